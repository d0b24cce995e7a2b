// How a TcpStream begins and ends; its two directions are in tcp_input.cc and tcp_output.cc.
#include "net/detail/tcp_stream.h"

#include <unistd.h>

#include <utility>

#include "net/detail/socket_address.h"
#include "net/detail/tcp_socket.h"
#include "net/detail/uv_error.h"

namespace corolane::net::detail {

TcpStream::TcpStream(EventLoop::Impl& loop, const StreamOptions& options)
    : Timer([](Timer& timer) { static_cast<TcpStream&>(timer).check_stall(); }),
      loop_(loop),
      options_(options),
      socket_(new TcpSocket(loop, *this)) {
  ++loop_.open_count;
}

TcpStream::~TcpStream() { close(); }

Result<void> TcpStream::connect(const Endpoint& peer, Deadline deadline) {
  auto address = to_socket_address(peer);
  if (!address) return address.error();
  peer_ = to_endpoint(*address->get());
  const std::string action = "connect to " + to_string(peer_);
  const int started = uv_tcp_connect(&socket_->connect_request, &socket_->handle, address->get(),
                                     &TcpSocket::on_connected);
  if (started < 0) return uv_error(started, action);

  const CallCount::Inside inside(calls_);
  if (auto waited = connected_.wait_or_fail(deadline); !waited) {
    return std::move(waited.error()).with_context(action);
  }
  if (connect_status_ < 0) return uv_error(connect_status_, action);
  opened();
  // Where nobody listens, on a port that the kernel also gives to clients, it may give us that
  // very one: the connection then ends where it began.
  if (local_ == peer_) return uv_error(UV_ECONNREFUSED, action);
  return {};
}

void TcpSocket::on_connected(uv_connect_t* request, int status) {
  auto* const owner = static_cast<TcpSocket*>(request->data)->owner;
  if (owner != nullptr) owner->on_connected(status);
}

void TcpStream::on_connected(int status) {
  connect_status_ = status;
  connected_.notify_all();
}

Result<void> TcpStream::adopt(int descriptor, Endpoint peer) {
  peer_ = std::move(peer);
  const int status = uv_tcp_open(&socket_->handle, descriptor);
  if (status < 0) {
    ::close(descriptor);
    return uv_error(status, "accept from " + to_string(peer_));
  }
  opened();
  return {};
}

void TcpStream::opened() {
  // Small messages are collected here already, and then they are to leave at once.
  uv_tcp_nodelay(&socket_->handle, 1);
  // A peer that vanished without a word would stay for ever: ask one that is silent for so many
  // seconds whether it is there.
  uv_tcp_keepalive(&socket_->handle, 1, 30);
  SocketAddress local;
  int size = static_cast<int>(local.size);
  if (uv_tcp_getsockname(&socket_->handle, local.get(), &size) == 0) {
    local_ = to_endpoint(*local.get());
  }
}

void TcpStream::end_turn() {
  send_output();
  if (sink_ == nullptr) return;
  if (!early_.empty()) return deliver_early();
  if (read_ended_) return tell_end();
  start_reading();
}

void TcpStream::close() {
  closed_ = true;
  sink_ = nullptr;
  if (!failure_) failure_ = Error(Code::unavailable, name() + ": closed");
  loop_.remove_due(*this);
  loop_.buffers.give_back(std::move(early_));
  release_socket();
}

void TcpStream::break_off(Error error) {
  if (!failure_) failure_ = std::move(error);
  release_socket();
  if (sink_ != nullptr && early_.empty()) tell_end();
}

void TcpStream::release_socket() {
  if (socket_ == nullptr) return;
  read_ended_ = true;
  readable_.notify_all();
  drop_output();
  std::exchange(socket_, nullptr)->release();
  --loop_.open_count;
}

}  // namespace corolane::net::detail
