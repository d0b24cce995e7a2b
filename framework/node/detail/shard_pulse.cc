// SPDX-License-Identifier: MIT
#include "framework/node/detail/shard_pulse.h"

#include <optional>

#include "coroutine/task.h"

namespace corolane::framework::detail {
namespace {

// How often a task that waits for an answer looks whether the shard still turns.
constexpr Duration look_interval = std::chrono::milliseconds(50);

constexpr coroutine::TaskOptions pulse_task = {.purpose = coroutine::StackPool::Purpose::control};

}  // namespace

// Work that one shard was asked to do.
struct ShardPulse::Question {
  std::size_t shard;
  std::optional<Result<void>> answer = {};
  bool is_asked = false;
  coroutine::Task<void> task = {};  // Ends before the rest is destroyed.
};

ShardPulse::ShardPulse(ShardSet& shards) : shards_(shards), beats_(shards.count()) {
  for (Beat& beat : beats_) beat.is_answered = std::make_shared<std::atomic<bool>>(true);
}

Result<void> ShardPulse::start() {
  if (shards_.is_at_home(shards_.count() - 1)) return {};
  auto spawned = tasks_.spawn(
      "pulse of the shards",
      [this] {
        do {
          beat();
        } while (coroutine::sleep_for(interval));
      },
      pulse_task);
  if (!spawned) return spawned.error();
  return {};
}

// A shard that owes an answer gets no further question: its queue has no bound.
void ShardPulse::beat() {
  for (std::size_t shard = 0; shard < beats_.size(); ++shard) {
    Beat& beat = beats_[shard];
    if (shards_.is_at_home(shard) || !beat.is_answered->load(std::memory_order_relaxed)) continue;
    beat.is_answered->store(false, std::memory_order_relaxed);
    beat.asked_at = now();
    shards_.post_to(shard, [is_answered = beat.is_answered] {
      is_answered->store(true, std::memory_order_relaxed);
    });
  }
}

Duration ShardPulse::silence_of(std::size_t shard) const {
  const Beat& beat = beats_[shard];
  return beat.is_answered->load(std::memory_order_relaxed) ? Duration::zero()
                                                           : now() - beat.asked_at;
}

ShardSilence ShardPulse::longest_silence() const {
  ShardSilence longest;
  for (std::size_t shard = 0; shard < beats_.size(); ++shard) {
    const Duration silent = silence_of(shard);
    if (silent > longest.time) longest = {.shard = shard, .time = silent};
  }
  return longest;
}

std::vector<ShardSilence> ShardPulse::silent_shards() const {
  std::vector<ShardSilence> silent;
  for (std::size_t shard = 0; shard < beats_.size(); ++shard) {
    const Duration time = silence_of(shard);
    if (time >= answer_time_max) silent.push_back({.shard = shard, .time = time});
  }
  return silent;
}

Result<std::vector<ShardSilence>> ShardPulse::ask_each(const ShardSet::Work& work) {
  // The last beat may be old: one that has hung since owes an answer from here on.
  beat();
  std::vector<Question> questions;
  questions.reserve(beats_.size());  // Their tasks refer to them.
  for (std::size_t shard = 0; shard < beats_.size(); ++shard) {
    Question& question = questions.emplace_back(shard);
    if (shards_.is_at_home(shard) || silence_of(shard) >= answer_time_max) continue;
    question.is_asked = true;
    question.task = coroutine::spawn(
        "ask a shard",
        [this, &work, &question] {
          question.answer = shards_.ask(question.shard, work, Deadline::never());
        },
        pulse_task);
  }
  if (shards_.is_at_home(0)) questions.front().answer = shards_.ask(0, work, Deadline::never());
  std::vector<ShardSilence> silent;
  Result<void> failure;
  for (Question& question : questions) {
    if (question.is_asked) await(question);
    if (!question.answer) {
      silent.push_back({.shard = question.shard, .time = silence_of(question.shard)});
    } else if (!*question.answer && failure) {
      failure = *question.answer;
    }
  }
  if (!failure) return failure.error();
  return silent;
}

// Leaves the question without an answer when the shard hangs.
void ShardPulse::await(Question& question) const {
  while (!question.answer) {
    const auto ended = question.task.join(Deadline::after(look_interval));
    if (ended) return;
    if (ended.error().code() != Code::deadline_exceeded) {
      // The caller is cancelled, or there was no stack for the task.
      question.answer = ended;
      return;
    }
    if (silence_of(question.shard) < answer_time_max) continue;
    question.task.cancel();
    if (auto left = question.task.join(Deadline::never()); !left) {
      question.answer = left;
    } else if (!*question.answer && question.answer->error().code() == Code::cancelled) {
      question.answer.reset();
    }
    return;
  }
}

}  // namespace corolane::framework::detail
