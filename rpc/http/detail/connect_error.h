// SPDX-License-Identifier: MIT
// Errors in the form of the Connect protocol (https://connectrpc.com/docs/protocol#error-codes).
#pragma once

#include <string>
#include <string_view>

#include "coroutine/base/error.h"
#include "net/http/http.h"

namespace corolane::rpc::detail {

// 404 for not_found.
unsigned http_status_of(Code code);

// {"code":"not_found","message":"no game 17"}
void append_connect_error(std::string& json, const Error& error);

// Answers with the error and its code's status, and with Retry-After when the error has a
// retry_after.
void answer_with(const Error& error, net::HttpResponse& response);
void answer_with(const Error& error, unsigned status, net::HttpResponse& response);

}  // namespace corolane::rpc::detail
