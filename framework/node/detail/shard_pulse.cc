// SPDX-License-Identifier: MIT
#include "framework/node/detail/shard_pulse.h"

#include "coroutine/task.h"

namespace corolane::framework::detail {

ShardPulse::ShardPulse(ShardSet& shards) : shards_(shards), beats_(shards.count() - 1) {
  for (Beat& beat : beats_) beat.is_answered = std::make_shared<std::atomic<bool>>(true);
}

Result<void> ShardPulse::start() {
  auto spawned = tasks_.spawn("pulse of the shards",
                              [this] {
                                do {
                                  ask();
                                } while (coroutine::sleep_for(interval));
                              },
                              {.purpose = coroutine::StackPool::Purpose::control});
  if (!spawned) return spawned.error();
  return {};
}

// A shard that owes an answer gets no further question: its queue has no bound.
void ShardPulse::ask() {
  for (std::size_t i = 0; i < beats_.size(); ++i) {
    Beat& beat = beats_[i];
    if (!beat.is_answered->load(std::memory_order_relaxed)) continue;
    beat.is_answered->store(false, std::memory_order_relaxed);
    beat.asked_at = now();
    shards_.post_to_other(i + 1, [is_answered = beat.is_answered] {
      is_answered->store(true, std::memory_order_relaxed);
    });
  }
}

ShardSilence ShardPulse::longest_silence() const {
  ShardSilence longest;
  for (std::size_t i = 0; i < beats_.size(); ++i) {
    if (beats_[i].is_answered->load(std::memory_order_relaxed)) continue;
    const Duration silent = now() - beats_[i].asked_at;
    if (silent > longest.time) longest = {.shard = i + 1, .time = silent};
  }
  return longest;
}

}  // namespace corolane::framework::detail
