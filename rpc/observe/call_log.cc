// SPDX-License-Identifier: MIT
#include "rpc/observe/call_log.h"

#include "rpc/call_scope.h"
#include "rpc/observe/call_outcome.h"

namespace corolane::rpc {

void CallLog::note(Context& call, const Result<void>& result) {
  if (const auto reason = reason_of(call, result)) write(*reason, call, result);
}

std::optional<LoggedCall::Reason> CallLog::reason_of(Context& call, const Result<void>& result) {
  using Reason = LoggedCall::Reason;
  if (!result && options_.errors != Errors::none) {
    if (options_.errors == Errors::all) return Reason::failed;
    if (is_fault_of_server(call, result)) return Reason::failed;
  }
  const bool is_slow = took(call) > options_.slow_after;
  if (is_slow && !call.descriptor().server_streaming) return Reason::slow;
  if (options_.one_in == 0 || ++call_count_ < options_.one_in) return std::nullopt;
  call_count_ = 0;
  return Reason::sampled;
}

void CallLog::write(LoggedCall::Reason reason, Context& call, const Result<void>& result) {
  if (!has_line_left(call.returned_at())) {
    ++left_out_count_;
    return;
  }
  const CallScope* const scope = CallScope::current();
  write_({.reason = reason,
          .method = call.method(),
          .peer = call.peer(),
          .code = outcome_of(call, result),
          .error = result ? std::string_view() : std::string_view(result.error().message()),
          .duration = took(call),
          .trace = scope == nullptr ? call.trace() : scope->trace,
          .left_out_count = left_out_count_ - told_left_out_count_});
  told_left_out_count_ = left_out_count_;
}

// A bucket that holds one second's worth of lines and is refilled once a second.
bool CallLog::has_line_left(TimePoint now) {
  if (now - refilled_at_ >= std::chrono::seconds(1)) {
    refilled_at_ = now;
    lines_left_ = options_.lines_per_second_max;
  }
  if (lines_left_ == 0) return false;
  --lines_left_;
  return true;
}

}  // namespace corolane::rpc
