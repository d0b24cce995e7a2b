// SPDX-License-Identifier: MIT
// Each function is as a user writes it who does not know better. The test finds the lines of a
// fault by the name of its function.
#include "test/e2e/twenty_faults/thing.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>

#include "coroutine/base/check.h"
#include "coroutine/base/clock.h"
#include "coroutine/base/try.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/task.h"
#include "framework/routing/router.h"

namespace faults {

using namespace std::chrono_literals;
using corolane::check;
using corolane::Code;
using corolane::Deadline;
using corolane::Duration;
using corolane::Error;
using corolane::now;
using corolane::TimePoint;
namespace coroutine = corolane::coroutine;
namespace framework = corolane::framework;

namespace {

// The mutex of this shard.
coroutine::Mutex& vault() {
  static thread_local coroutine::Mutex mutex;
  return mutex;
}

std::mutex rankings;

ThingAnswer answer_with(std::uint64_t number) {
  ThingAnswer answer;
  answer.set_number(number);
  return answer;
}

ThingAnswer milliseconds_since(TimePoint begin) {
  return answer_with(static_cast<std::uint64_t>((now() - begin) / 1ms));
}

// Writes to each page, so all of it is used.
[[gnu::noinline]] std::size_t fill(volatile char* tiles, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 1024) tiles[i] = 'x';
  return count;
}

[[gnu::noinline]] int count_rooms(int from) {
  volatile char room[512] = {};
  room[0] = static_cast<char>(from);
  if (from < 0) return 0;
  return count_rooms(from % 1000 + 1) + room[0];
}

}  // namespace

// --- The process dies

Result<ThingAnswer> Thing::overflow(const ThingAsk&, Context&) {
  char tiles[200 * 1024];
  return answer_with(fill(tiles, sizeof tiles));
}

Result<ThingAnswer> Thing::recurse(const ThingAsk&, Context&) {
  return answer_with(static_cast<std::uint64_t>(count_rooms(1)));
}

Result<ThingAnswer> Thing::use_null(const ThingAsk&, Context&) {
  const std::uint64_t* volatile target = nullptr;
  return answer_with(*target);
}

Result<ThingAnswer> Thing::fail_check(const ThingAsk& ask, Context&) {
  const std::int64_t gold = ask.number();
  check(gold - 1 >= 0, "a purse holds no debt");
  return answer_with(ask.number() - 1);
}

Result<ThingAnswer> Thing::free_twice(const ThingAsk&, Context&) {
  const std::uint64_t* volatile purse = new std::uint64_t(5);
  delete purse;
  delete purse;
  return answer_with(0);
}

// --- A call fails

Result<ThingAnswer> Thing::throw_range(const ThingAsk&, Context&) {
  throw std::out_of_range("slot 9 of a bag with 8");
}

Result<ThingAnswer> Thing::throw_number(const ThingAsk&, Context&) { throw 42; }

Result<ThingAnswer> Thing::remind(const ThingAsk&, Context&) {
  COROLANE_TRY(reminders().at("settle", wall_clock().now()));
  return answer_with(0);
}

Result<void> Thing::on_reminder(const framework::Reminder&) {
  return Error(Code::failed_precondition, "the auction has no winner");
}

Result<ThingAnswer> Thing::keep(const ThingAsk& ask, Context&) {
  change().set_treasure(std::string(ask.number(), 'x'));
  return answer_with(ask.number());
}

// --- A thread is held

Result<ThingAnswer> Thing::spin(const ThingAsk&, Context&) {
  volatile bool is_found = false;
  while (!is_found) {
  }
  return answer_with(0);
}

Result<ThingAnswer> Thing::compute(const ThingAsk& ask, Context&) {
  const TimePoint begin = now();
  while (now() - begin < ask.number() * 1ms) {
  }
  return milliseconds_since(begin);
}

Result<ThingAnswer> Thing::sleep(const ThingAsk&, Context&) {
  const TimePoint begin = now();
  ::usleep(static_cast<useconds_t>(config_.nap / 1us));
  return milliseconds_since(begin);
}

Result<ThingAnswer> Thing::poll(const ThingAsk&, Context&) {
  const TimePoint begin = now();
  ::poll(nullptr, 0, static_cast<int>(config_.nap / 1ms));
  return milliseconds_since(begin);
}

Result<ThingAnswer> Thing::hold_std_mutex(const ThingAsk&, Context&) {
  const std::scoped_lock lock(rankings);
  COROLANE_TRY(coroutine::sleep_for(5s));
  return answer_with(0);
}

// --- A call waits

Result<ThingAnswer> Thing::hold_turn(const ThingAsk& ask, Context&) {
  COROLANE_TRY(coroutine::sleep_for(ask.number() == 0 ? Duration(1min) : ask.number() * 1ms));
  return answer_with(0);
}

Result<ThingAnswer> Thing::add(const ThingAsk&, Context&) { return answer_with(1); }

Result<ThingAnswer> Thing::call_round(const ThingAsk& ask, Context&) {
  ThingAsk back;
  back.set_other(id());
  return ThingClient(router(), ask.other()).call_back(back);
}

Result<ThingAnswer> Thing::call_back(const ThingAsk& ask, Context&) {
  return ThingClient(router(), ask.other()).add({});
}

Result<ThingAnswer> Thing::cross(const ThingAsk& ask, Context&) {
  COROLANE_TRY(coroutine::sleep_for(500ms));
  return ThingClient(router(), ask.other()).add({});
}

Result<ThingAnswer> Thing::keep_mutex(const ThingAsk&, Context& context) {
  const std::scoped_lock lock(vault());
  COROLANE_TRY(bell_.wait(context.deadline()));
  return answer_with(0);
}

Result<ThingAnswer> Thing::take_mutex(const ThingAsk&, Context&) {
  const std::scoped_lock lock(vault());
  return answer_with(0);
}

Result<ThingAnswer> Thing::miss_bell(const ThingAsk&, Context& context) {
  bell_.pulse();
  COROLANE_TRY(bell_.wait(context.deadline()));
  return answer_with(0);
}

// --- Something grows

Result<ThingAnswer> Thing::leak(const ThingAsk& ask, Context&) {
  for (std::uint32_t i = 0; i < ask.number(); ++i) {
    COROLANE_TRY(followers_.spawn("follower", [this] { return bell_.wait(Deadline::never()); }));
  }
  return answer_with(followers_.size());
}

Result<ThingAnswer> Thing::dig(const ThingAsk& ask, Context& context) {
  // What this task uses while it waits.
  const auto me = coroutine::current_task_id();
  auto looked = coroutine::spawn("look", [me] { return coroutine::Scheduler::current().task(me); });
  COROLANE_TRY(const auto task, looked.join(context.deadline()));
  if (!task) return Error(Code::internal, "a task does not find itself");
  const std::size_t left_bytes = task->stack_size_bytes - task->stack_used_bytes;
  if (left_bytes < ask.number()) return Error(Code::out_of_range, "it is deeper than that");
  const std::size_t size_bytes = left_bytes - ask.number();
  return answer_with(fill(static_cast<char*>(__builtin_alloca(size_bytes)), size_bytes));
}

}  // namespace faults
