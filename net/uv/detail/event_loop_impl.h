// SPDX-License-Identifier: MIT
// The implementation of EventLoop, for this module's own files only: it alone gives access to
// libuv's loop.
#pragma once

#include <uv.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "coroutine/base/deadline.h"
#include "net/detail/buffer_pool.h"
#include "net/detail/due.h"
#include "net/parting_streams.h"
#include "net/uv/detail/poller.h"
#include "net/uv/detail/read_share.h"
#include "net/uv/detail/waker.h"
#include "net/uv/event_loop.h"

namespace corolane::net {

struct EventLoop::Impl {
  Impl();
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Has its end_turn() called once before the next wait, however often it is added.
  void add_due(detail::Due& due);
  void remove_due(detail::Due& due);
  void end_turn();

  // Called after each handler of a poll: runs the tasks that it made ready, once they are many, and
  // sends their output at intervals.
  void after_handler();

  // Waits for at most that time, and handles what has come. See Poller::wait().
  void poll(int milliseconds);
  // Handles what has come for libuv, which begins to watch what is new, and closes what has ended.
  void run_uv();
  // Whether it has to do that before the loop sleeps.
  bool uv_is_due() const;

  uv_loop_t uv;
  // Does nothing: without a handle that is active, libuv forgets no descriptor that it has watched.
  uv_prepare_t anchor;
  detail::Waker waker;
  detail::Poller poller;

  // How often the loop has polled: sockets compare it to act only once per turn.
  std::uint64_t turn_count = 1;
  // When tasks first ran inside of this poll, if they did.
  std::optional<TimePoint> first_run_at;
  TimePoint sent_at{};  // When the output of tasks was last sent in this poll; at first, when they
                        // began to run.
  // Handles that are open and have an owner; owners count it up and down.
  std::size_t open_count = 0;
  // Set when the end of a turn made tasks ready or armed a timer: the scheduler has to look again
  // before the loop may sleep.
  bool keep_awake = false;
  // Null in place of one that was removed.
  std::vector<detail::Due*> all_due;
  detail::BufferPool buffers;
  PartingStreams parting_streams;
  // Sockets with a sink read into it: its contents are valid during one call of a sink.
  std::array<std::byte, detail::ReadShare::bytes_max> read_buffer;
  detail::ReadShare read_share;
};

}  // namespace corolane::net
