// SPDX-License-Identifier: MIT
// The outcome of a call, as an operator of the server sees it.
//
//   const auto outcome = rpc::outcome_of(call, result);
//   if (outcome && rpc::is_fault_of_server(*outcome)) {
//     log.warning("call failed", {{"method", call.method()}, {"code", rpc::to_string(outcome)}});
//   }
#pragma once

#include <optional>
#include <string_view>

#include "coroutine/base/result.h"
#include "rpc/context.h"

namespace corolane::rpc {

// The code that the caller gets; nothing for a success. For filters, after next(): a handler past
// its deadline returns cancelled, while its caller gets deadline_exceeded.
std::optional<Code> outcome_of(Context& call, const Result<void>& result);

// "ok", or the name of the code.
std::string_view to_string(const std::optional<Code>& outcome);

// True when the code points at a fault of the server that an operator should look at; other codes
// answer the request (OpenTelemetry's conventions for RPC spans draw the same line).
bool is_fault_of_server(Code code);

}  // namespace corolane::rpc
