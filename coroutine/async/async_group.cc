// SPDX-License-Identifier: MIT
// Keeps the list of children; see detail/async_strand.h for the strands.
#include "coroutine/async/async_group.h"

#include <utility>

namespace corolane::coroutine {

void AsyncGroup::spawn(Async<void> child) {
  check(child.handle_ != nullptr,
        "a stackless coroutine is awaited once, and not after it was moved from");
  const auto handle = std::exchange(child.handle_, nullptr);
  handle.promise().set_owner(*this);
  auto* const strand = new detail::GroupStrand(handle, children_);
  end_.child_began();
  if (end_.cancels_new()) strand->cancel();
}

void AsyncGroup::cancel() {
  children_.strands.for_each([](detail::GroupStrand& child) { child.cancel(); });
}

void AsyncGroup::cancel_and_join() {
  cancel();
  end_.join_cancelled();
}

void detail::async_child_failed(AsyncGroup& group, Error error) {
  group.end_.child_failed(std::move(error));
}

void detail::async_child_ended(AsyncGroup& group) {
  auto& strand = static_cast<GroupStrand&>(Strand::running());
  strand.leave(group.children_);
  group.end_.child_ended();
}

}  // namespace corolane::coroutine
