#include "framework/detail/request_ledger.h"

#include <algorithm>

namespace corolane::framework::detail {
namespace {

constexpr std::uint64_t window_size = 64;

Error forgotten(const rpc::RequestId& id, const char* what) {
  return Error(Code::failed_precondition, "request " + std::to_string(id.sequence) + " of \"" +
                                              std::string(id.caller) + "\" " + what)
      .with_maybe_executed();
}

bool has_taken_effect(const AppliedCaller& caller, std::uint64_t sequence) {
  if (sequence >= caller.last()) return sequence == caller.last();
  return (caller.window() >> (caller.last() - sequence - 1) & 1) != 0;
}

void note(AppliedCaller& caller, std::uint64_t sequence) {
  if (sequence < caller.last()) {
    caller.set_window(caller.window() | std::uint64_t{1} << (caller.last() - sequence - 1));
    return;
  }
  const std::uint64_t step = sequence - caller.last();
  std::uint64_t window = step < window_size ? caller.window() << step : 0;
  if (caller.last() != 0 && step <= window_size) window |= std::uint64_t{1} << (step - 1);
  caller.set_window(window);
  caller.set_last(sequence);
}

}  // namespace

Result<const std::string*> RequestLedger::find(const rpc::RequestId& id) const {
  const auto caller = std::ranges::find(record_.callers(), id.caller, &AppliedCaller::caller);
  if (caller == record_.callers().end()) return nullptr;
  if (id.sequence + window_size < caller->last()) {
    return forgotten(id, "is older than what the object remembers");
  }
  if (!has_taken_effect(*caller, id.sequence)) return nullptr;
  const auto reply = std::ranges::find(caller->replies(), id.sequence, &AppliedReply::sequence);
  if (reply == caller->replies().end()) {
    return forgotten(id, "has taken effect; its reply is forgotten");
  }
  return &reply->reply();
}

void RequestLedger::add(const rpc::RequestId& id, std::string reply) {
  auto& callers = *record_.mutable_callers();
  int place = 0;
  while (place < callers.size() && callers.Get(place).caller() != id.caller) ++place;
  if (place == callers.size()) callers.Add()->set_caller(std::string(id.caller));
  // Who has called last comes last.
  for (; place + 1 < callers.size(); ++place) callers.SwapElements(place, place + 1);
  if (callers.size() > caller_count_max) callers.DeleteSubrange(0, 1);

  AppliedCaller& caller = *callers.Mutable(callers.size() - 1);
  note(caller, id.sequence);
  if (caller.replies_size() == reply_count_max) caller.mutable_replies()->DeleteSubrange(0, 1);
  AppliedReply& added = *caller.add_replies();
  added.set_sequence(id.sequence);
  added.set_reply(std::move(reply));
}

}  // namespace corolane::framework::detail
