// SPDX-License-Identifier: MIT
// How a SocketStream opens and closes; its two directions are in socket_input.cc and
// socket_output.cc.
#include "net/uv/detail/socket_stream.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "net/detail/socket_address.h"
#include "net/uv/detail/socket_handle.h"
#include "net/uv/detail/tcp_options.h"
#include "net/uv/detail/uv_error.h"

namespace corolane::net::detail {

using namespace std::chrono_literals;

SocketStream::SocketStream(EventLoop::Impl& loop, Transport transport, const StreamOptions& options)
    : Timer([](Timer& timer) { static_cast<SocketStream&>(timer).check_stall(); }),
      loop_(loop),
      socket_(new SocketHandle(loop, *this, transport)),
      input_(loop.buffers, "stream read"),
      options_(options) {
  ++loop_.open_count;
  if (options_.budget != nullptr) account_.open(*options_.budget, *this);
}

SocketStream::~SocketStream() { close(); }

std::string SocketStream::name() const {
  // A client of a Unix socket has no address of its own.
  return is_unnamed(peer_) ? "connection on " + to_string(local_)
                           : "connection to " + to_string(peer_);
}

Result<void> SocketStream::connect(const Endpoint& peer, Deadline deadline) {
  auto address = to_socket_address(peer);
  if (!address) return address.error();
  peer_ = to_endpoint(*address);
  const CallCount::Inside inside(calls_);
  return is_unix(peer_) ? connect_unix(*address, deadline) : connect_tcp(*address, deadline);
}

Result<void> SocketStream::connect_tcp(const SocketAddress& address, Deadline deadline) {
  const std::string action = "connect to " + to_string(peer_);
  const int started = uv_tcp_connect(&socket_->connect_request, &socket_->tcp, address.get(),
                                     &SocketHandle::on_connected);
  if (started < 0) return uv_error(started, action);
  if (auto waited = connected_.wait(deadline); !waited) {
    return std::move(waited.error()).with_context(action);
  }
  if (connect_status_ < 0) return uv_error(connect_status_, action);
  if (auto set = set_tcp_options(socket_->descriptor(), options_, action); !set) return set;
  opened();
  // When nothing listens on a port that the kernel also assigns to clients, it may assign us that
  // very port: the connection then connects to itself.
  if (local_ == peer_) return uv_error(UV_ECONNREFUSED, action);
  return {};
}

Result<void> SocketStream::connect_unix(const SocketAddress& address, Deadline deadline) {
  const std::string action = "connect to " + to_string(peer_);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return uv_error(-errno, action);
  check(uv_pipe_open(&socket_->pipe, descriptor) == 0, "the loop can use a new socket");

  for (Duration pause = 1ms;; pause = std::min<Duration>(pause * 2, 50ms)) {
    if (::connect(descriptor, address.get(), address.size) == 0) break;
    if (errno != EAGAIN) return uv_error(-errno, action);
    // The listener's backlog is full. No event reports when it has room: retry.
    if (deadline.has_passed()) return Error(Code::deadline_exceeded, action + ": no answer");
    const Deadline next = earlier(Deadline::after(pause), deadline);
    if (auto slept = coroutine::sleep_until(next); !slept) {
      return std::move(slept.error()).with_context(action);
    }
  }
  opened();
  return {};
}

void SocketHandle::on_connected(uv_connect_t* request, int status) {
  auto* const owner = static_cast<SocketHandle*>(request->data)->owner;
  if (owner != nullptr) owner->on_connected(status);
}

void SocketStream::on_connected(int status) {
  connect_status_ = status;
  connected_.pulse();
}

Result<void> SocketStream::adopt(int descriptor, Endpoint peer) {
  peer_ = std::move(peer);
  const int status = socket_->handle.type == UV_TCP ? uv_tcp_open(&socket_->tcp, descriptor)
                                                    : uv_pipe_open(&socket_->pipe, descriptor);
  if (status < 0) {
    ::close(descriptor);
    return uv_error(status, "accept from " + to_string(peer_));
  }
  opened();
  return {};
}

void SocketStream::opened() {
  opened_at_ = heard_at_ = coroutine::Scheduler::current().turn_time();
  descriptor_ = socket_->descriptor();
  SocketAddress local;
  if (::getsockname(descriptor_, local.get(), &local.size) == 0) {
    local_ = to_endpoint(local);
  }
}

StreamStatistics SocketStream::statistics() const {
  return {.received_bytes = received_count_,
          .written_bytes = appended_count_,
          .unsent_bytes = unsent_bytes(),
          .acknowledged_bytes =
              socket_ == nullptr
                  ? 0
                  : static_cast<std::uint64_t>(std::max<std::int64_t>(acknowledged_count(), 0)),
          .output_bytes_max = options_.output_bytes_max,
          .opened_at = opened_at_,
          .heard_at = heard_at_,
          .reading_since = reading_ || !input_.has_sink() ? reading_since_ : TimePoint::max()};
}

PartingStreams* SocketStream::parting_streams() { return &loop_.parting_streams; }

void SocketStream::end_turn() {
  if (evicted_) account_.close();
  if (evicted_ && !failure_) {
    return break_off(Error(Code::unavailable, name() + ": closed, as it held too much memory"));
  }
  send_output();
  count_held();
  if (!input_.has_sink()) return;
  const bool is_open = sink_is_open();
  if (input_.has_early()) {
    if (is_open) deliver_early();
  } else if (input_.has_ended()) {
    if (input_.owes_end(failure_.has_value())) tell_end();
  } else if (is_open) {
    start_reading();
  } else {
    stop_reading();
  }
}

void SocketStream::close() {
  input_.close();
  if (!failure_) failure_ = Error(Code::unavailable, name() + ": closed");
  loop_.remove_due(*this);
  release_socket();
  count_held();
}

void SocketStream::break_off(Error error) {
  if (!failure_) failure_ = std::move(error);
  release_socket();
  if (input_.owes_end(/*has_failed=*/true)) tell_end();
}

void SocketStream::release_socket() {
  if (socket_ == nullptr) return;
  stop_reading();
  input_.end();
  drop_output();
  std::exchange(socket_, nullptr)->release();
  --loop_.open_count;
  count_held();
}

void SocketStream::evict() {
  evicted_ = true;
  loop_.add_due(*this);
  loop_.keep_awake = true;
}

void SocketStream::count_held() {
  if (options_.budget == nullptr) return;
  const std::size_t sending = socket_ == nullptr ? 0 : socket_->sending.capacity();
  held_.set(output_.capacity() + sending + input_.early_capacity());
}

}  // namespace corolane::net::detail
