// SPDX-License-Identifier: MIT
// Converts our values to messages of a recording and back.
#pragma once

#include <chrono>

#include "coroutine/base/result.h"
#include "framework/recording/recording.pb.h"
#include "net/endpoint.h"

namespace corolane::framework::recording {

inline Failure to_message(const Error& error) {
  Failure failure;
  failure.set_code(static_cast<std::uint32_t>(error.code()));
  failure.set_message(error.message());
  failure.set_maybe_executed(error.maybe_executed());
  failure.set_retry_after_milliseconds(error.retry_after().count());
  failure.set_detail(error.detail());
  return failure;
}

inline Error to_error(const Failure& failure) {
  Error error(code_from_number(failure.code()), failure.message());
  if (failure.maybe_executed()) error = std::move(error).with_maybe_executed();
  if (failure.retry_after_milliseconds() != 0) {
    error = std::move(error).with_retry_after(
        std::chrono::milliseconds(failure.retry_after_milliseconds()));
  }
  if (!failure.detail().empty()) error = std::move(error).with_detail(failure.detail());
  return error;
}

inline Address to_message(const net::Endpoint& endpoint) {
  Address address;
  address.set_address(endpoint.address);
  address.set_port(endpoint.port);
  return address;
}

inline net::Endpoint to_endpoint(const Address& address) {
  return {.address = address.address(), .port = static_cast<std::uint16_t>(address.port())};
}

}  // namespace corolane::framework::recording
