// SPDX-License-Identifier: MIT
#include "framework/routing/detail/owner_news.h"

#include "coroutine/base/deadline.h"

namespace corolane::framework::detail {

Result<void> OwnerNews::wait(const Place& place, const Look& look, const OwnerMark& tried,
                             Duration at_most) {
  // It has changed while the call was under way.
  if (look.owner() != tried) return {};
  Waiting& waiting = waiting_[place];
  if (waiting.count++ == 0) {
    waiting.look = look;
    waiting.known = tried;
  } else {
    look_at(waiting);
  }
  if (const TimePoint time = now(); time >= waiting.doubt_at) {
    waiting.doubt_at = time + doubt_interval;
    waiting.look.doubt();
  }
  auto waited = waiting.changed.wait(Deadline::after(at_most));
  if (--waiting.count == 0) waiting_.erase(place);
  if (!waited && waited.error().code() == Code::deadline_exceeded) return {};
  return waited;
}

void OwnerNews::look_again() {
  for (auto& [place, waiting] : waiting_) look_at(waiting);
}

void OwnerNews::look_at(Waiting& waiting) {
  const OwnerMark owner = waiting.look.owner();
  if (owner == waiting.known) return;
  waiting.known = owner;
  waiting.changed.pulse();
}

}  // namespace corolane::framework::detail
