// SPDX-License-Identifier: MIT
#include "net/uv/detail/socket_listener.h"

#include <unistd.h>
#include <uv.h>

#include <cerrno>
#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "net/uv/detail/event_loop_impl.h"
#include "net/uv/detail/socket_stream.h"
#include "net/uv/detail/tcp_options.h"
#include "net/uv/detail/uv_error.h"

namespace corolane::net::detail {
namespace {

// A new connection costs as much as some dozens of small requests: accepting only a few per turn
// keeps a flood of new connections from delaying the open ones.
constexpr int accepted_per_turn_max = 4;

// accept() also reports errors of a connection in the backlog; those are not the listener's.
bool is_of_connection(int error) {
  switch (error) {
    case ECONNABORTED:
    case EINTR:
    case EPROTO:
    case ENOPROTOOPT:
    case ENETDOWN:
    case ENETUNREACH:
    case ENONET:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct SocketListener::Watch {
  uv_poll_t handle;
  SocketListener* owner;
};

SocketListener::SocketListener(EventLoop::Impl& loop, const ListenOptions& options)
    : loop_(loop), options_(options) {}

Result<void> SocketListener::listen(const Endpoint& endpoint) {
  auto address = to_socket_address(endpoint);
  if (!address) return address.error();
  local_ = endpoint;
  if (auto listening = bind_and_listen(*address); !listening) return listening;

  watch_ = new Watch{.handle = {}, .owner = this};
  const int status = uv_poll_init_socket(&loop_.uv, &watch_->handle, descriptor_);
  check(status == 0, "the loop can watch a listening socket");
  watch_->handle.data = watch_;
  ++loop_.open_count;
  return {};
}

Result<void> SocketListener::bind_and_listen(const SocketAddress& address) {
  const std::string action = "listen on " + to_string(local_);
  descriptor_ = ::socket(address.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) return uv_error(-errno, action);
  if (has_file(address)) {
    auto file = listen_on_file(descriptor_, address, options_.backlog);
    if (!file) return std::move(file.error()).with_context(action);
    file_ = std::move(*file);
    return {};
  }
  if (auto set = set_options(action); !set) return set;
  if (::bind(descriptor_, address.get(), address.size) < 0) {
    // For connect() the same error means that no port is left.
    if (errno == EADDRNOTAVAIL) {
      return Error(Code::invalid_argument, action + ": not an address of this machine");
    }
    return uv_error(-errno, action);
  }
  if (::listen(descriptor_, options_.backlog) < 0) return uv_error(-errno, action);
  SocketAddress bound;
  if (::getsockname(descriptor_, bound.get(), &bound.size) < 0) return uv_error(-errno, action);
  local_ = to_endpoint(bound);
  return {};
}

Result<void> SocketListener::set_options(const std::string& action) {
  if (is_unix(local_)) return {};
  // Lets a restarted server take its port back while old connections still linger on it.
  const int on = 1;
  ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (options_.shares_port) ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  return set_tcp_options(descriptor_, options_.stream, action);
}

Result<std::unique_ptr<Stream>> SocketListener::accept(Deadline deadline) {
  const auto action = [this] { return "accept on " + to_string(local_); };
  const CallCount::Inside inside(calls_);
  // A full backlog must not starve other tasks: those that are ready run first.
  if (auto turn = coroutine::yield(); !turn) return std::move(turn.error()).with_context(action());
  while (descriptor_ >= 0) {
    if (std::exchange(accept_turn_, loop_.turn_count) != loop_.turn_count) accepted_in_turn_ = 0;
    if (accepted_in_turn_ == accepted_per_turn_max) {
      if (auto waited = wait_for_connection(deadline); !waited) {
        return std::move(waited.error()).with_context(action());
      }
      continue;
    }
    SocketAddress peer;
    const int accepted =
        ::accept4(descriptor_, peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) {
      ++accepted_in_turn_;
      const auto transport =
          is_unix(local_) ? SocketStream::Transport::unix_socket : SocketStream::Transport::tcp;
      auto stream = std::make_unique<SocketStream>(loop_, transport, options_.stream);
      if (auto taken = stream->adopt(accepted, to_endpoint(peer)); !taken) {
        return taken.error();
      }
      return stream;
    }
    const int error = errno;
    if (is_of_connection(error)) continue;
    if (error != EAGAIN) return uv_error(-error, action());
    if (auto waited = wait_for_connection(deadline); !waited) {
      return std::move(waited.error()).with_context(action());
    }
  }
  return Error(Code::unavailable, action() + ": closed");
}

// Suspends until the next turn of the loop in which a connection waits.
Result<void> SocketListener::wait_for_connection(Deadline deadline) {
  if (!std::exchange(watching_, true)) {
    uv_poll_start(&watch_->handle, UV_READABLE, [](uv_poll_t* handle, int, int) {
      auto* const owner = static_cast<Watch*>(handle->data)->owner;
      if (owner != nullptr) owner->on_connection();
    });
  }
  return connections_.wait(deadline);
}

void SocketListener::on_connection() {
  if (connections_.pulse_one()) return;
  // All tasks are busy with earlier connections: the loop stops watching until one calls again.
  uv_poll_stop(&watch_->handle);
  watching_ = false;
}

void SocketListener::close() {
  if (watch_ != nullptr) {
    watch_->owner = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(&watch_->handle),
             [](uv_handle_t* handle) { delete static_cast<Watch*>(handle->data); });
    watch_ = nullptr;
    --loop_.open_count;
  }
  // Before the socket closes: a file without a listener belongs to a dead server.
  if (file_) std::exchange(file_, std::nullopt)->remove();
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  connections_.pulse();
}

}  // namespace corolane::net::detail
