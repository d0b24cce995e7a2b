// SPDX-License-Identifier: MIT
// The writing half of SocketStream: output is collected during a turn of the loop, and sent at its
// end with one system call; libuv sends the rest that the kernel does not take at once.
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "net/uv/detail/socket_handle.h"
#include "net/uv/detail/socket_stream.h"
#include "net/uv/detail/uv_error.h"

namespace corolane::net::detail {
namespace {

uv_buf_t to_uv(std::span<const std::byte> bytes) {
  // libuv's type has no const, but it only reads.
  auto* const data = const_cast<std::byte*>(bytes.data());
  return {.base = reinterpret_cast<char*>(data), .len = bytes.size()};
}

}  // namespace

Result<void> SocketStream::write_all(std::span<const std::byte> bytes, Deadline deadline) {
  if (auto appended = append(bytes); !appended) return appended;
  const CallCount::Inside inside(calls_);
  while (unsent_bytes() > options_.output_bytes_max) {
    if (auto waited = writable_.wait(deadline); !waited) {
      return std::move(waited.error()).with_context(name());
    }
    if (failure_) return *failure_;
  }
  return {};
}

Result<void> SocketStream::try_write(std::span<const std::byte> bytes) {
  if (!failure_ && unsent_bytes() > options_.output_bytes_max) {
    return Error(Code::resource_exhausted,
                 name() + ": the peer is slow: " + std::to_string(unsent_bytes()) +
                     " bytes wait to be sent");
  }
  return append(bytes);
}

Result<void> SocketStream::append(std::span<const std::byte> bytes) {
  if (failure_) return *failure_;
  if (finishing_) {
    return Error(Code::failed_precondition, name() + ": nothing is written after the end");
  }
  if (output_.has_room_at(bytes)) {
    output_.commit(bytes.size());
  } else {
    if (output_.capacity() == 0) output_ = loop_.buffers.lend();
    output_.append(bytes);
  }
  appended_count_ += bytes.size();
  loop_.add_due(*this);
  return {};
}

std::span<std::byte> SocketStream::room_to_write(std::size_t size) {
  if (failure_) return Stream::room_to_write(size);
  if (output_.capacity() == 0) output_ = loop_.buffers.lend();
  return output_.room(size);
}

Result<void> SocketStream::flush(Deadline deadline) {
  const CallCount::Inside inside(calls_);
  while (!failure_ && unsent_bytes() > 0) {
    if (auto waited = flushed_.wait(deadline); !waited) {
      return std::move(waited.error()).with_context(name());
    }
  }
  if (failure_) return *failure_;
  return {};
}

void SocketStream::finish_writing() {
  finishing_ = true;
  loop_.add_due(*this);
}

void SocketStream::send_output() {
  if (failure_) return;
  if (!sending_ && !send_now()) return;
  output_changed();
}

bool SocketStream::send_now() {
  if (!output_.empty()) {
    // Bypasses libuv, which has nothing to send now: send() is cheaper than the write() that it
    // uses.
    const ssize_t sent = ::send(descriptor_, output_.bytes().data(), output_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      fail_writing(-errno);
      return false;
    }
    if (sent > 0) output_.consume(static_cast<std::size_t>(sent));
  }
  if (output_.empty()) {
    loop_.buffers.give_back(std::move(output_));
  } else if (!send_rest()) {
    return false;
  }
  if (finishing_ && !finished_) {
    // Queued behind the output being sent. Fails only when the peer is gone, which reading reports.
    finished_ = true;
    uv_shutdown(&socket_->shutdown_request, &socket_->stream, [](uv_shutdown_t*, int) {});
  }
  return true;
}

bool SocketStream::send_rest() {
  socket_->sending = std::move(output_);
  const uv_buf_t rest = to_uv(socket_->sending.bytes());
  const int started =
      uv_write(&socket_->write_request, &socket_->stream, &rest, 1, &SocketHandle::on_written);
  if (started < 0) {
    fail_writing(started);
    return false;
  }
  sending_ = true;
  return true;
}

void SocketHandle::on_written(uv_write_t* request, int status) {
  auto* const owner = static_cast<SocketHandle*>(request->data)->owner;
  if (owner != nullptr) owner->on_written(status);
}

void SocketStream::on_written(int status) {
  sending_ = false;
  loop_.buffers.give_back(std::move(socket_->sending));
  if (status < 0) return fail_writing(status);
  const bool reading_waits = input_.has_sink() && !reading_;
  if (!output_.empty() || (finishing_ && !finished_) || reading_waits) loop_.add_due(*this);
  output_changed();
  count_held();
}

void SocketStream::fail_writing(int status) {
  if (!failure_) failure_ = uv_error(status, name());
  drop_output();
  // Input that came before is still worth reading; after that, reading ends as well.
  ::shutdown(socket_->descriptor(), SHUT_RDWR);
}

void SocketStream::drop_output() {
  coroutine::Timer::cancel();
  loop_.buffers.give_back(std::move(output_));
  loop_.keep_awake = true;
  writable_.pulse();
  flushed_.pulse();
  if (input_.has_sink() && !reading_ && !input_.has_ended()) loop_.add_due(*this);
}

// Wakes writers that wait for less output, and starts the stall check of a peer that acknowledges
// none.
void SocketStream::output_changed() {
  const std::size_t unsent = unsent_bytes();
  if (unsent <= options_.output_bytes_max) {
    coroutine::Timer::cancel();
    if (writable_.pulse() > 0) loop_.keep_awake = true;
  } else if (!is_armed()) {
    acknowledged_at_check_ = acknowledged_count();
    stalled_check_count_ = 0;
    arm_stall_check();
    loop_.keep_awake = true;
  }
  if (unsent == 0 && flushed_.pulse() > 0) loop_.keep_awake = true;
}

void SocketStream::arm_stall_check() {
  coroutine::Scheduler::current().timers().arm(*this,
                                               Deadline::after(options_.output_stall_max / 2));
}

void SocketStream::check_stall() {
  const std::int64_t acknowledged = acknowledged_count();
  if (acknowledged != std::exchange(acknowledged_at_check_, acknowledged)) {
    stalled_check_count_ = 0;
  } else if (++stalled_check_count_ == 2) {
    // A single check would not do: a process that was itself paused first sees its timers, then its
    // sockets.
    return break_off(Error(Code::unavailable, name() + ": the peer took no output for too long"));
  }
  arm_stall_check();
}

// The kernel takes output in steps: nothing until a good part of its buffer is free, which takes a
// slow peer long, and then more than the peer has room for. So the amount that it took says little.
std::int64_t SocketStream::acknowledged_count() const {
  // For a Unix socket the kernel counts the memory of its buffers, which also shrinks as the peer
  // reads.
  int held_bytes = 0;
  ::ioctl(socket_->descriptor(), SIOCOUTQ, &held_bytes);
  return static_cast<std::int64_t>(appended_count_ - unsent_bytes()) - held_bytes;
}

std::size_t SocketStream::unsent_bytes() const {
  if (socket_ == nullptr) return 0;
  return output_.size() + (sending_ ? uv_stream_get_write_queue_size(&socket_->stream) : 0);
}

}  // namespace corolane::net::detail
