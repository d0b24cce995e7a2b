#include "framework/detail/object_turn.h"

#include "coroutine/base/check.h"

namespace corolane::framework::detail {

Result<void> ObjectHost::Turn::wait_without(coroutine::Event& event, Deadline deadline) {
  check(is_held(), "whoever gives a turn away has one");
  end();
  is_outside_ = true;
  cell_.go_outside();
  auto waited = cell_.wait_outside(event, deadline);
  const bool may_return = waited || waited.error().code() == Code::deadline_exceeded;
  if (!may_return) {
    was_sent_away_ = waited.error().code() == Code::aborted;
    return waited;
  }
  if (!take(is_shared_, Deadline::never())) {
    return Error(Code::cancelled, "cancelled while waiting for a turn");
  }
  is_outside_ = false;
  cell_.come_back();
  if (!cell_.is_owned()) return cell_.moved();
  return waited;
}

Result<void> ObjectHost::Gate::reply(google::protobuf::Message& message) {
  if (remembers(method_, request_id_)) {
    cell_.ledger().add(request_id_, message.SerializeAsString());
    cell_.mark_changed();
  }
  // Who only reads has changed nothing, and may not be alone in its turn.
  const bool is_to_be_stored = method_.durable || host_.has_too_many_unsaved();
  if (cell_.is_changed() && !method_.read_only && is_to_be_stored) {
    if (auto saved = host_.save_for_reply(cell_, method_); !saved) return saved;
  }
  if (!host_.may_reply(cell_, request_id_)) return cell_.moved().with_maybe_executed();
  turn_.end();
  return out_.reply(message);
}

}  // namespace corolane::framework::detail
