// Keeps the list of children; see detail/async_strand.h for the strands.
#include "coroutine/async/async_group.h"

#include <utility>

namespace corolane::coroutine {

void AsyncGroup::spawn(Async<void> child) {
  check(child.handle_ != nullptr,
        "a stackless coroutine is awaited once, and not after it was moved from");
  const auto handle = std::exchange(child.handle_, nullptr);
  handle.promise().set_owner(*this);
  auto* const strand = new detail::GroupStrand(handle);
  children_.push_back(*strand);
  ++child_count_;
  if (cancels_new_) strand->cancel();
}

Result<void> AsyncGroup::join(Deadline deadline) {
  // More may be spawned between the end of the last child and our turn.
  while (child_count_ > 0) {
    if (auto waited = all_ended_.wait_or_fail(deadline); !waited) return waited;
  }
  if (auto error = std::exchange(first_error_, std::nullopt)) return std::move(*error);
  return {};
}

void AsyncGroup::cancel() {
  children_.for_each([](detail::GroupStrand& child) { child.cancel(); });
}

void AsyncGroup::cancel_and_join() {
  cancel();
  cancels_new_ = true;
  while (child_count_ > 0) all_ended_.wait(Deadline::never(), Cancellation::ignore);
  cancels_new_ = false;
}

void detail::async_child_failed(AsyncGroup& group, Error error) {
  if (!group.first_error_) group.first_error_ = std::move(error);
}

void detail::async_child_ended(AsyncGroup& group) {
  auto& strand = static_cast<GroupStrand&>(Strand::running());
  static_cast<ListNode<GroupStrandTag>&>(strand).unlink();
  if (--group.child_count_ == 0) group.all_ended_.notify_all();
}

}  // namespace corolane::coroutine
