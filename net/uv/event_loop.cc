// SPDX-License-Identifier: MIT
#include "net/uv/event_loop.h"

#include <uv.h>

#include <chrono>
#include <csignal>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "net/uv/detail/event_loop_impl.h"

namespace corolane::net {
namespace {

// How many tasks one poll makes ready before they run: enough that the check for them costs nothing
// per task, few enough that their stacks and sockets are in the cache from the first to the last.
// Running a thousand at once makes each a quarter more expensive.
constexpr std::size_t ready_count_max = 64;

// The interval at which their output is sent: each send may wake a peer, which costs as much as a
// dozen small calls. Output does not wait for the end of the poll: the peer can work meanwhile.
constexpr Duration send_pause = std::chrono::microseconds(250);
// Output for this many peers is sent at once: there is little to collect for each, and each holds a
// buffer.
constexpr std::size_t due_count_max = 32;

// After this time in one poll the rest of the input is read before tasks run: under overload the
// server has to know how much there is, instead of letting requests expire in the kernel's buffers.
constexpr Duration run_time_max = std::chrono::milliseconds(1);

}  // namespace

EventLoop::Impl::Impl() {
  // Writing to a broken connection returns an error; it must not kill the process.
  [[maybe_unused]] static const auto previous = std::signal(SIGPIPE, SIG_IGN);
  check(uv_loop_init(&uv) == 0, "the process has descriptors left for an event loop");
  waker.emplace(uv);
  uv_timer_init(&uv, &timer);
  timer.data = this;
}

EventLoop::Impl::~Impl() {
  check(open_count == 0, "listeners and streams are gone before their event loop");
  waker->close();
  uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
  // Waits for sockets that were closed lately, and for abandoned look-ups.
  uv_run(&uv, UV_RUN_DEFAULT);
  check(uv_loop_close(&uv) == 0, "an event loop that ends has nothing left to do");
}

void EventLoop::Impl::add_due(detail::Due& due) {
  if (due.due_index != detail::Due::not_due) return;
  due.due_index = all_due.size();
  all_due.push_back(&due);
}

void EventLoop::Impl::remove_due(detail::Due& due) {
  if (due.due_index == detail::Due::not_due) return;
  all_due[std::exchange(due.due_index, detail::Due::not_due)] = nullptr;
}

void EventLoop::Impl::end_turn() {
  // By index: sinks run here, and may close sockets or make more of them due.
  for (std::size_t index = 0; index < all_due.size(); ++index) {
    detail::Due* const due = all_due[index];
    if (due == nullptr) continue;
    due->due_index = detail::Due::not_due;
    due->end_turn();
  }
  all_due.clear();
}

void EventLoop::Impl::after_handler() {
  auto& scheduler = coroutine::Scheduler::current();
  if (scheduler.ready_count() < ready_count_max) return;
  if (first_run_at && scheduler.turn_time() - *first_run_at >= run_time_max) return;
  scheduler.run_ready_tasks();
  if (!first_run_at) first_run_at = sent_at = scheduler.turn_time();
  const TimePoint ended_at = std::chrono::steady_clock::now();
  if (ended_at - sent_at < send_pause && all_due.size() < due_count_max) return;
  sent_at = ended_at;
  end_turn();
}

void EventLoop::Impl::arm_timer(Deadline deadline) {
  // A timer that fires too early does no harm, and re-arming costs more than that: most calls end
  // long before their deadlines, and each would move the timer.
  if (timer_time <= deadline.time()) return;
  timer_time = deadline.time();
  // Both clocks count from the same start. Rounded up: never early.
  const auto due_time = std::chrono::ceil<std::chrono::milliseconds>(deadline.time());
  const auto due_ms = static_cast<std::uint64_t>(due_time.time_since_epoch().count());
  const std::uint64_t now_ms = uv_now(&uv);
  const auto on_time = [](uv_timer_t* fired) {
    static_cast<Impl*>(fired->data)->timer_time = TimePoint::max();
    // Without it, a timer that fires before the loop polls would not keep it from sleeping.
    uv_stop(fired->loop);
  };
  uv_timer_start(&timer, on_time, due_ms > now_ms ? due_ms - now_ms : 0, 0);
}

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}

EventLoop::~EventLoop() = default;

TimePoint EventLoop::now() const { return std::chrono::steady_clock::now(); }

bool EventLoop::wait(Deadline deadline) {
  Impl& impl = *impl_;
  impl.keep_awake = false;
  impl.end_turn();
  ++impl.turn_count;
  impl.read_share.end_turn();
  impl.first_run_at.reset();
  // A deadline that has passed needs no look at the clock: the timer then fires at once.
  if (impl.keep_awake || deadline == Deadline::passed() || !impl.waker->fall_asleep()) {
    uv_run(&impl.uv, UV_RUN_NOWAIT);
    return true;
  }
  impl.arm_timer(deadline);
  uv_run(&impl.uv, UV_RUN_ONCE);
  impl.waker->get_up();
  return true;
}

void EventLoop::run_ended() {
  if (impl_->parting_streams.count() == 0) return;
  // The kernel sends what it has been given.
  impl_->end_turn();
  impl_->parting_streams.close_all();
}

void EventLoop::wake() { impl_->waker->wake(); }

std::size_t EventLoop::open_handle_count() const { return impl_->open_count; }

}  // namespace corolane::net
