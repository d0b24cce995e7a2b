// SPDX-License-Identifier: MIT
#include "framework/diagnostics/detail/stall_watchdog.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <utility>

#include "coroutine/inspect/folded_frames.h"
#include "coroutine/inspect/symbols.h"
#include "framework/wire/detail/call_chain.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// Checks within the shortest stall.
constexpr int looks_per_stall = 4;
// The time for an interrupted thread to answer: it may have to wait for a processor.
constexpr Duration answer_time_max = 1s;
// The stack frames in a log line, the innermost first.
constexpr std::size_t logged_frames_max = 8;

// Called in a signal handler: writes the object whose handler the task runs, as
// `package.Game/Move("g17")`.
std::size_t note_object(std::span<char> room) {
  const CallChain* const chain = CallChain::peek();
  const CallChain::Frame* const frame = chain == nullptr ? nullptr : chain->frame();
  return frame == nullptr ? 0 : frame->write_name(room);
}

// "spin (room.cc:42) < tick (room.cc:17)".
std::string place_text(const coroutine::StackTrace& trace) {
  coroutine::Symbols symbols;
  std::string text;
  std::size_t count = 0;
  for (const coroutine::SourceFrame& frame : coroutine::folded(symbols.frames(trace))) {
    if (count++ == logged_frames_max) break;
    text.append(text.empty() ? "" : " < ");
    text.append(frame.is_note ? "(" + frame.function + ")" : frame.function);
    if (!frame.file.empty()) {
      text.append(" (").append(frame.file).append(":").append(std::to_string(frame.line)) += ')';
    }
  }
  return text;
}

}  // namespace

StallWatchdog::StallWatchdog(std::vector<coroutine::Scheduler*> schedulers, const Options& options,
                             Log& log)
    : options_(options), log_(log) {
  for (coroutine::Scheduler* const scheduler : schedulers) {
    watched_.push_back({.scheduler = scheduler});
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

StallWatchdog::Statistics StallWatchdog::statistics() const {
  const std::scoped_lock lock(mutex_);
  return statistics_;
}

std::vector<StallWatchdog::Stall> StallWatchdog::last_stalls() const {
  const std::scoped_lock lock(mutex_);
  return {stalls_.begin(), stalls_.end()};
}

bool StallWatchdog::is_stuck() const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(stalls_, [this](const Stall& stall) {
    return stall.is_going_on && stall.lasted >= options_.stuck_time_min;
  });
}

void StallWatchdog::watch(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "stall watchdog");
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  const Duration interval = options_.stall_time_min / looks_per_stall;
  while (!stopped.wait_for(lock, stop, interval, [] { return false; }) && !stop.stop_requested()) {
    for (std::size_t shard = 0; shard < watched_.size(); ++shard) {
      look(watched_[shard], shard, now());
    }
  }
}

void StallWatchdog::look(Watched& watched, std::size_t shard, TimePoint time) {
  const std::uint32_t activity = watched.scheduler->activity();
  if (activity != watched.activity) {
    if (watched.stall != 0) end_stall(watched, time);
    watched.activity = activity;
    watched.since = time;
    return;
  }
  const bool runs_tasks = activity % 2 == 1;
  if (!runs_tasks || time - watched.since < options_.stall_time_min) return;
  if (watched.stall == 0) return begin_stall(watched, shard, time);
  go_on(watched, time - watched.since);
}

void StallWatchdog::begin_stall(Watched& watched, std::size_t shard, TimePoint time) {
  Stall stall{.number = 0,
              .shard = shard,
              .is_control = options_.control_is_last && shard + 1 == watched_.size(),
              .begun_at = time_of_day() - (time - watched.since),
              .lasted = time - watched.since,
              .is_going_on = true,
              .doing = watched.scheduler->interrupt(answer_time_max, note_object)};
  {
    const std::scoped_lock lock(mutex_);
    stall.number = watched.stall = ++statistics_.count;
    stalls_.push_front(stall);
    forget_oldest();
  }
  watched.tell_at = options_.told_again_after;
  tell_first(stall, time);
}

void StallWatchdog::go_on(Watched& watched, Duration lasted) {
  std::optional<coroutine::Interruption> doing;
  const bool is_told = lasted >= watched.tell_at;
  if (is_told) {
    doing = watched.scheduler->interrupt(answer_time_max, note_object);
    const bool is_first = watched.tell_at == options_.told_again_after;
    const Duration minute = 60 * options_.told_again_after;
    watched.tell_at = is_first ? 10 * options_.told_again_after : (lasted / minute + 1) * minute;
  }
  std::optional<Stall> told;
  {
    const std::scoped_lock lock(mutex_);
    Stall* const stall = find(watched.stall);
    if (stall == nullptr) return;
    stall->lasted = lasted;
    if (doing) stall->doing = std::move(doing);
    if (is_told) told = *stall;
  }
  if (told) tell(*told);
}

void StallWatchdog::end_stall(Watched& watched, TimePoint time) {
  const Duration lasted = time - watched.since;
  const std::scoped_lock lock(mutex_);
  statistics_.time += lasted;
  if (Stall* const stall = find(std::exchange(watched.stall, 0))) {
    stall->lasted = lasted;
    stall->is_going_on = false;
  }
}

void StallWatchdog::tell_first(const Stall& stall, TimePoint time) {
  while (!logged_at_.empty() && time - logged_at_.front() >= 1min) logged_at_.pop_front();
  if (logged_at_.size() >= options_.logged_per_minute_max) {
    ++unlogged_count_;
    return;
  }
  logged_at_.push_back(time);
  tell(stall);
}

void StallWatchdog::tell(const Stall& stall) {
  const coroutine::Interruption doing = stall.doing.value_or(coroutine::Interruption());
  log_.warning("the loop does not turn: a handler computes for long, or blocks the thread",
               {{"shard", stall.is_control ? "control" : std::to_string(stall.shard)},
                {"for", stall.lasted},
                {"task", doing.task_name.empty() ? "-" : doing.task_name},
                {"object", doing.note.empty() ? "-" : doing.note},
                {"asleep_in", doing.asleep_in.empty() ? "-" : doing.asleep_in},
                {"at", place_text(doing.trace)},
                {"not_told_before", std::exchange(unlogged_count_, 0)}});
}

// One that goes on is told again: there is at most one for each loop.
void StallWatchdog::forget_oldest() {
  while (stalls_.size() > options_.kept_count) {
    const auto oldest = std::find_if(stalls_.rbegin(), stalls_.rend(),
                                     [](const Stall& stall) { return !stall.is_going_on; });
    if (oldest == stalls_.rend()) return;
    stalls_.erase(std::next(oldest).base());
  }
}

StallWatchdog::Stall* StallWatchdog::find(std::uint64_t number) {
  const auto found = std::ranges::find(stalls_, number, &Stall::number);
  return found == stalls_.end() ? nullptr : &*found;
}

}  // namespace corolane::framework::detail
