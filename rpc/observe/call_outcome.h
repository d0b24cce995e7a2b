// What came of a call, as whoever watches over the server sees it.
#pragma once

#include <optional>
#include <string_view>

#include "coroutine/base/result.h"
#include "rpc/context.h"

namespace corolane::rpc {

// The code that the caller is told; nothing for a success. For filters, behind next(): a handler
// whose deadline passed was cancelled, and its caller hears of the deadline.
std::optional<Code> outcome_of(Context& call, const Result<void>& result);

// "ok", or the name of the code.
std::string_view to_string(const std::optional<Code>& outcome);

// It points at the server, and somebody should look; other codes answer what was asked for
// (OpenTelemetry's conventions for RPC spans draw the line at the same place).
bool is_fault_of_server(Code code);

}  // namespace corolane::rpc
