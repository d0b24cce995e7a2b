// SPDX-License-Identifier: MIT
// The outcome of a call, as an operator of the server sees it, and whose fault an error is: the one
// rule that log, traces, metrics, pages and alerts share.
//
//   if (rpc::is_fault_of_server(call, result)) {
//     log.warning("call failed", {{"code", rpc::to_string(rpc::outcome_of(call, result))}});
//   }
//
// An error of the server is one that an operator should look at. Any other one is a refusal: the
// caller has asked for what it cannot have, or has gone away, and that is the answer.
#pragma once

#include <optional>
#include <string_view>

#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "rpc/context.h"

namespace corolane::rpc {

// The code that the caller gets; nothing for a success. For filters, after next(): a handler past
// its deadline returns cancelled, while its caller gets deadline_exceeded.
std::optional<Code> outcome_of(Context& call, const Result<void>& result);

// "ok", or the name of the code.
std::string_view to_string(const std::optional<Code>& outcome);

// Whether an error is the server's fault. Its code decides (OpenTelemetry's conventions for RPC
// spans draw the same line), with two exceptions:
// - cancelled is the caller's wish, unless the call `is_late`: its deadline has passed, so that its
//   caller gets deadline_exceeded.
// - resource_exhausted is the server's fault when the runtime says so: no stack, a full mailbox or
//   store. A handler that says so answers ("the lobby is full"), as do limits of one caller.
bool is_fault_of_server(const Error& error, bool is_late = false);
// The same for the outcome of a call; false for a success.
bool is_fault_of_server(Context& call, const Result<void>& result);

}  // namespace corolane::rpc
