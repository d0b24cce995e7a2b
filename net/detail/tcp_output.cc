// The writing half of TcpStream: what is written in a turn of the loop is collected, and leaves
// at its end with one system call; what the peer does not take at once is libuv's to send.
#include <sys/socket.h>

#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "net/detail/tcp_socket.h"
#include "net/detail/tcp_stream.h"
#include "net/detail/uv_error.h"

namespace corolane::net::detail {
namespace {

uv_buf_t to_uv(std::span<const std::byte> bytes) {
  // libuv's type has no const, but it only reads.
  auto* const data = const_cast<std::byte*>(bytes.data());
  return {.base = reinterpret_cast<char*>(data), .len = bytes.size()};
}

}  // namespace

Result<void> TcpStream::write_all(std::span<const std::byte> bytes, Deadline deadline) {
  if (auto appended = append(bytes); !appended) return appended;
  const CallCount::Inside inside(calls_);
  while (unsent_bytes() > options_.output_bytes_max) {
    if (auto waited = writable_.wait_or_fail(deadline); !waited) {
      return std::move(waited.error()).with_context(name());
    }
    if (failure_) return *failure_;
  }
  return {};
}

Result<void> TcpStream::try_write(std::span<const std::byte> bytes) {
  if (!failure_ && unsent_bytes() > options_.output_bytes_max) {
    return Error(Code::resource_exhausted, name() + ": the peer is slow, " +
                                               std::to_string(unsent_bytes()) +
                                               " bytes wait to be sent");
  }
  return append(bytes);
}

Result<void> TcpStream::append(std::span<const std::byte> bytes) {
  if (failure_) return *failure_;
  if (finishing_) {
    return Error(Code::failed_precondition, name() + ": nothing is written after the end");
  }
  if (output_.capacity() == 0) output_ = loop_.buffers.lend();
  output_.append(bytes);
  appended_count_ += bytes.size();
  loop_.add_due(*this);
  return {};
}

Result<void> TcpStream::flush(Deadline deadline) {
  const CallCount::Inside inside(calls_);
  while (!failure_ && unsent_bytes() > 0) {
    if (auto waited = flushed_.wait_or_fail(deadline); !waited) {
      return std::move(waited.error()).with_context(name());
    }
  }
  if (failure_) return *failure_;
  return {};
}

void TcpStream::finish_writing() {
  finishing_ = true;
  loop_.add_due(*this);
}

void TcpStream::send_output() {
  if (failure_ || sending_) return;
  if (!output_.empty()) {
    const uv_buf_t all = to_uv(output_.bytes());
    const int sent = uv_try_write(socket_->stream(), &all, 1);
    if (sent < 0 && sent != UV_EAGAIN) return fail_writing(sent);
    if (sent > 0) output_.consume(static_cast<std::size_t>(sent));
  }
  if (output_.empty()) {
    loop_.buffers.give_back(std::move(output_));
  } else if (!send_rest()) {
    return;
  }
  if (finishing_ && !finished_) {
    // Comes behind what is being sent. Fails only when the peer is gone, which reading tells.
    finished_ = true;
    uv_shutdown(&socket_->shutdown_request, socket_->stream(), [](uv_shutdown_t*, int) {});
  }
  output_changed();
}

bool TcpStream::send_rest() {
  socket_->sending = std::move(output_);
  const uv_buf_t rest = to_uv(socket_->sending.bytes());
  const int started =
      uv_write(&socket_->write_request, socket_->stream(), &rest, 1, &TcpSocket::on_written);
  if (started < 0) {
    fail_writing(started);
    return false;
  }
  sending_ = true;
  return true;
}

void TcpSocket::on_written(uv_write_t* request, int status) {
  auto* const owner = static_cast<TcpSocket*>(request->data)->owner;
  if (owner != nullptr) owner->on_written(status);
}

void TcpStream::on_written(int status) {
  sending_ = false;
  loop_.buffers.give_back(std::move(socket_->sending));
  if (status < 0) return fail_writing(status);
  if (!output_.empty() || (finishing_ && !finished_)) loop_.add_due(*this);
  output_changed();
}

void TcpStream::fail_writing(int status) {
  if (!failure_) failure_ = uv_error(status, name());
  drop_output();
  // What the peer sent before is still worth reading; behind it, reading ends now as well.
  uv_os_fd_t descriptor = -1;
  if (uv_fileno(reinterpret_cast<uv_handle_t*>(&socket_->handle), &descriptor) == 0) {
    ::shutdown(descriptor, SHUT_RDWR);
  }
}

void TcpStream::drop_output() {
  coroutine::Timer::cancel();
  loop_.buffers.give_back(std::move(output_));
  loop_.keep_awake = true;
  writable_.notify_all();
  flushed_.notify_all();
}

// Wakes those who wait for less output, and watches over a peer that takes none.
void TcpStream::output_changed() {
  const std::size_t unsent = unsent_bytes();
  if (unsent <= options_.output_bytes_max) {
    coroutine::Timer::cancel();
    if (writable_.notify_all() > 0) loop_.keep_awake = true;
  } else if (!is_armed()) {
    sent_at_check_ = appended_count_ - unsent;
    stalled_check_count_ = 0;
    arm_stall_check();
    loop_.keep_awake = true;
  }
  if (unsent == 0 && flushed_.notify_all() > 0) loop_.keep_awake = true;
}

void TcpStream::arm_stall_check() {
  coroutine::Scheduler::current().timers().arm(*this,
                                               Deadline::after(options_.output_stall_max / 2));
}

void TcpStream::check_stall() {
  const std::uint64_t sent = appended_count_ - unsent_bytes();
  if (sent != std::exchange(sent_at_check_, sent)) {
    stalled_check_count_ = 0;
  } else if (++stalled_check_count_ == 2) {
    // One would not do: a process that was itself paused first looks at the clock, then at its
    // sockets.
    return break_off(Error(Code::unavailable, name() + ": the peer took no output for too long"));
  }
  arm_stall_check();
}

std::size_t TcpStream::unsent_bytes() const {
  if (socket_ == nullptr) return 0;
  return output_.size() + uv_stream_get_write_queue_size(socket_->stream());
}

}  // namespace corolane::net::detail
