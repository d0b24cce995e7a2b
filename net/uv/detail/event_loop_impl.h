// What an EventLoop is made of, for this module's own files: the one way to libuv's loop.
#pragma once

#include <uv.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "coroutine/base/deadline.h"
#include "net/detail/due.h"
#include "net/parting_streams.h"
#include "net/uv/detail/buffer_pool.h"
#include "net/uv/detail/read_share.h"
#include "net/uv/event_loop.h"

namespace corolane::net {

struct EventLoop::Impl {
  // Between the loop and the threads that wake it. A loop that is awake needs no system call to
  // see what it was woken for, and one that was woken needs no second one.
  enum class State : std::uint8_t { awake, asleep, woken };

  Impl();
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Has its end_turn() called before the next wait; once, however often it is asked for.
  void add_due(detail::Due& due);
  void remove_due(detail::Due& due);
  void end_turn();

  // After each handler of a poll: lets the tasks run that it made ready, once they are many, and
  // now and then sends what they wrote.
  void after_handler();

  // False when a wake() came before: the loop must not sleep then.
  bool fall_asleep();
  void arm_timer(Deadline deadline);

  uv_loop_t uv;
  uv_async_t waker;
  uv_timer_t timer;
  TimePoint timer_time = TimePoint::max();  // For when `timer` is armed; the largest for never.
  std::atomic<State> state = State::awake;

  // How often it polled: what one turn may do only once, compares it.
  std::uint64_t turn_count = 1;
  // When tasks first ran inside of this poll, if they did.
  std::optional<TimePoint> first_run_at;
  TimePoint sent_at{};  // What they wrote; at first, when they began to.
  // What is open and belongs to somebody; owners count it up and down.
  std::size_t open_count = 0;
  // Set when a turn's end made tasks ready or armed a timer: then the scheduler has to look again
  // before the loop may sleep.
  bool keep_awake = false;
  // Null where one went away meanwhile.
  std::vector<detail::Due*> all_due;
  detail::BufferPool buffers;
  PartingStreams parting_streams;
  // What sockets with a sink read into: its contents live during one call of a sink.
  std::array<std::byte, detail::ReadShare::bytes_max> read_buffer;
  detail::ReadShare read_share;
};

}  // namespace corolane::net
