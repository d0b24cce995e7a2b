// SPDX-License-Identifier: MIT
#include "net/uv/event_loop.h"

#include <uv.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/prefetch.h"
#include "coroutine/scheduler.h"
#include "net/uv/detail/event_loop_impl.h"
#include "net/uv/detail/socket_handle.h"

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

// How much of what is due is fetched ahead: the half of a SocketStream that sends.
constexpr std::size_t due_prefetch_bytes = 448;

// After this time in one poll the rest of the input is read before tasks run: under overload the
// server has to know how much there is, instead of letting requests expire in the kernel's buffers.
constexpr Duration run_time_max = std::chrono::milliseconds(1);

// Rounded up: never early. -1 stands for no deadline, as in Poller::wait().
int milliseconds_until(Deadline deadline) {
  if (deadline == Deadline::never()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.time() -
                                                                 std::chrono::steady_clock::now());
  // The scheduler looks at the time again when it is woken before.
  constexpr std::int64_t longest = 3'600'000;
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, longest));
}

}  // namespace

EventLoop::Impl::Impl() {
  // Writing to a broken connection returns an error; it must not kill the process.
  [[maybe_unused]] static const auto previous = std::signal(SIGPIPE, SIG_IGN);
  check(uv_loop_init(&uv) == 0, "the process has descriptors left for an event loop");
  uv_prepare_init(&uv, &anchor);
  uv_prepare_start(&anchor, [](uv_prepare_t*) {});
  poller.add(uv_backend_fd(&uv), &uv);
  poller.add(waker.descriptor(), &waker);
}

EventLoop::Impl::~Impl() {
  check(open_count == 0, "listeners and streams are gone before their event loop");
  uv_close(reinterpret_cast<uv_handle_t*>(&anchor), nullptr);
  // Waits for sockets that were closed lately, and for abandoned look-ups.
  uv_run(&uv, UV_RUN_DEFAULT);
  poller.remove(uv_backend_fd(&uv));
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
    // A send takes long enough for the lines of the next but one to come.
    constexpr std::size_t lead = 2;
    if (index + lead < all_due.size()) {
      prefetch_for_write(all_due[index + lead], due_prefetch_bytes);
    }
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

void EventLoop::Impl::poll(int milliseconds) {
  bool is_for_uv = false;
  for (const epoll_event& event : poller.wait(milliseconds)) {
    if (event.data.ptr == &uv) {
      is_for_uv = true;
    } else if (event.data.ptr == &waker) {
      waker.take();
    } else {
      detail::SocketHandle::on_readable(*static_cast<detail::SocketHandle*>(event.data.ptr));
    }
  }
  // Last, because it deletes handles that other events may name.
  if (is_for_uv) run_uv();
}

void EventLoop::Impl::run_uv() { uv_run(&uv, UV_RUN_NOWAIT); }

bool EventLoop::Impl::uv_is_due() const { return uv_backend_timeout(&uv) == 0; }

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
  const bool uv_was_due = impl.uv_is_due();
  if (uv_was_due) impl.run_uv();
  const bool may_sleep =
      !uv_was_due && !impl.keep_awake && deadline != Deadline::passed() && impl.waker.fall_asleep();
  impl.poll(may_sleep ? milliseconds_until(deadline) : 0);
  if (may_sleep) impl.waker.get_up();
  return true;
}

void EventLoop::run_ended() {
  if (impl_->parting_streams.count() == 0) return;
  // The kernel sends what it has been given.
  impl_->end_turn();
  impl_->parting_streams.close_all();
}

void EventLoop::wake() { impl_->waker.wake(); }

std::size_t EventLoop::open_handle_count() const { return impl_->open_count; }

}  // namespace corolane::net
