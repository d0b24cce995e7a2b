// SPDX-License-Identifier: MIT
#include "net/uv/detail/uv_udp_socket.h"

#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "net/detail/socket_address.h"
#include "net/uv/detail/event_loop_impl.h"
#include "net/uv/detail/uv_error.h"

namespace corolane::net::detail {
namespace {

// Datagrams per system call. Beyond this number the call itself is a negligible part of the cost.
constexpr std::size_t batch_count_max = 32;

UdpOptions checked(const UdpOptions& options) {
  check(options.datagram_bytes_max >= 1 && options.datagram_bytes_max <= datagram_payload_max,
        "a datagram has 1 to 65,507 bytes");
  return options;
}

int kernel_size(std::size_t bytes) {
  return static_cast<int>(std::min<std::size_t>(bytes, 1'000'000'000));
}

}  // namespace

struct UvUdpSocket::Watch {
  uv_poll_t handle;
  UvUdpSocket* owner;
};

struct UvUdpSocket::ReceiveBatch {
  // Room for the datagrams that fit into 64 KiB, and for at least one.
  explicit ReceiveBatch(std::size_t datagram_bytes_max)
      : count(std::clamp<std::size_t>(64 * 1024 / datagram_bytes_max, 1, batch_count_max)),
        memory(std::make_unique_for_overwrite<std::byte[]>(count * datagram_bytes_max)) {
    for (std::size_t index = 0; index < count; ++index) {
      parts[index] = {.iov_base = memory.get() + index * datagram_bytes_max,
                      .iov_len = datagram_bytes_max};
      messages[index].msg_hdr.msg_iov = &parts[index];
      messages[index].msg_hdr.msg_iovlen = 1;
      messages[index].msg_hdr.msg_name = addresses[index].get();
    }
  }

  const std::size_t count;
  std::unique_ptr<std::byte[]> memory;
  std::array<mmsghdr, batch_count_max> messages{};
  std::array<iovec, batch_count_max> parts{};
  std::array<SocketAddress, batch_count_max> addresses{};
  std::array<Datagram, batch_count_max> datagrams{};
};

struct UvUdpSocket::SendBatch {
  std::array<mmsghdr, batch_count_max> messages{};
  std::array<iovec, batch_count_max> parts{};
  std::array<SocketAddress, batch_count_max> addresses{};
};

UvUdpSocket::UvUdpSocket(EventLoop::Impl& loop, const UdpOptions& options)
    : loop_(loop),
      options_(checked(options)),
      received_(std::make_unique<ReceiveBatch>(options.datagram_bytes_max)),
      sending_(std::make_unique<SendBatch>()) {
  queued_.reserve(std::min<std::size_t>(options.output_count_max, batch_count_max));
}

UvUdpSocket::~UvUdpSocket() { close(); }

Result<void> UvUdpSocket::bind(const Endpoint& endpoint) {
  local_ = endpoint;
  if (auto opened = open(endpoint); !opened) {
    return std::move(opened.error()).with_context("bind UDP " + to_string(endpoint));
  }
  watch_ = new Watch{.handle = {}, .owner = this};
  const int status = uv_poll_init_socket(&loop_.uv, &watch_->handle, descriptor_);
  check(status == 0, "the loop can watch a UDP socket");
  watch_->handle.data = watch_;
  ++loop_.open_count;
  return {};
}

Result<void> UvUdpSocket::open(const Endpoint& endpoint) {
  auto peer = net::to_udp_peer(endpoint);
  if (!peer) return peer.error();
  const SocketAddress address = socket_address_of(*peer);
  descriptor_ = ::socket(address.get()->sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) return uv_error(-errno, "socket");
  const int buffer_bytes = kernel_size(options_.receive_buffer_bytes);
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof(buffer_bytes));
  if (::bind(descriptor_, address.get(), address.size) < 0) {
    if (errno == EADDRNOTAVAIL) {
      return Error(Code::invalid_argument, "not an address of this machine");
    }
    return uv_error(-errno, "bind");
  }
  SocketAddress bound;
  if (::getsockname(descriptor_, bound.get(), &bound.size) < 0) return uv_error(-errno, "bind");
  local_ = to_endpoint(bound);
  return {};
}

void UvUdpSocket::watch(int events) {
  if (events == watched_events_) return;
  watched_events_ = events;
  if (events == 0) {
    uv_poll_stop(&watch_->handle);
    return;
  }
  uv_poll_start(&watch_->handle, events, [](uv_poll_t* handle, int status, int ready) {
    auto* const owner = static_cast<Watch*>(handle->data)->owner;
    if (owner != nullptr) owner->on_ready(status, ready);
  });
}

void UvUdpSocket::on_ready(int status, int events) {
  if (status < 0) {
    // An error of the socket that belongs to no particular call: getsockopt() clears it. libuv has
    // stopped watching because of it.
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size);
    return watch(std::exchange(watched_events_, 0));
  }
  if ((events & UV_WRITABLE) != 0 && blocked_) {
    blocked_ = false;
    watch(watched_events_ & ~UV_WRITABLE);
    loop_.add_due(*this);
  }
  if ((events & UV_READABLE) == 0) return;
  if (sink_ != nullptr) return push_batch();
  // Without a reader the loop stops watching until there is one.
  if (!readable_.pulse_one()) watch(watched_events_ & ~UV_READABLE);
}

// Reads one batch per turn; the rest waits for the next turn, behind all other sockets.
void UvUdpSocket::push_batch() {
  const auto batch = take_batch();
  if (batch && !batch->empty()) sink_->on_datagrams(*batch);
}

Result<std::span<const Datagram>> UvUdpSocket::receive(Deadline deadline) {
  check(sink_ == nullptr, "a socket with a sink has no other reader");
  check(!readable_.has_waiters(), "a UDP socket has one reader at a time");
  const CallCount::Inside inside(calls_);
  // A flood must not starve other tasks: those that are ready run first.
  if (auto turn = coroutine::yield(); !turn) return std::move(turn.error()).with_context(name());
  while (descriptor_ >= 0) {
    auto batch = take_batch();
    if (!batch || !batch->empty()) return batch;
    watch(watched_events_ | UV_READABLE);
    if (auto waited = readable_.wait(deadline); !waited) {
      return std::move(waited.error()).with_context(name());
    }
  }
  return closed_error();
}

Result<std::span<const Datagram>> UvUdpSocket::take_batch() {
  ReceiveBatch& batch = *received_;
  for (std::size_t index = 0; index < batch.count; ++index) {
    batch.messages[index].msg_hdr.msg_namelen = sizeof(batch.addresses[index].storage);
  }
  const int count = ::recvmmsg(descriptor_, batch.messages.data(),
                               static_cast<unsigned>(batch.count), MSG_DONTWAIT, nullptr);
  if (count < 0) {
    if (errno == EAGAIN || errno == EINTR) return std::span<const Datagram>();
    return uv_error(-errno, name());
  }
  const auto taken = static_cast<std::size_t>(count);
  for (std::size_t index = 0; index < taken; ++index) {
    const mmsghdr& message = batch.messages[index];
    const bool is_truncated = (message.msg_hdr.msg_flags & MSG_TRUNC) != 0;
    batch.datagrams[index] = {
        .peer = to_udp_peer(*batch.addresses[index].get()),
        .bytes = {static_cast<const std::byte*>(batch.parts[index].iov_base), message.msg_len},
        .is_truncated = is_truncated};
    if (is_truncated) ++statistics_.truncated_count;
  }
  statistics_.received_count += taken;
  return std::span<const Datagram>(batch.datagrams.data(), taken);
}

void UvUdpSocket::set_sink(DatagramSink& sink) {
  check(!readable_.has_waiters(), "no task receives from a socket that is given a sink");
  if (descriptor_ < 0) return;
  sink_ = &sink;
  watch(watched_events_ | UV_READABLE);
}

bool UvUdpSocket::has_room(std::size_t size) const {
  return queued_.size() < options_.output_count_max &&
         queued_bytes_.size() + size <= std::max(options_.output_bytes_max, size);
}

Result<void> UvUdpSocket::try_send(const UdpPeer& peer, std::span<const std::byte> bytes) {
  return append(peer, bytes);
}

Result<void> UvUdpSocket::send(const UdpPeer& peer, std::span<const std::byte> bytes,
                               Deadline deadline) {
  const CallCount::Inside inside(calls_);
  for (;;) {
    auto sent = append(peer, bytes);
    if (sent || sent.error().code() != Code::resource_exhausted) return sent;
    if (auto waited = writable_.wait(deadline); !waited) {
      return std::move(waited.error()).with_context(name());
    }
  }
}

Result<void> UvUdpSocket::append(const UdpPeer& peer, std::span<const std::byte> bytes) {
  if (descriptor_ < 0) return closed_error();
  if (bytes.size() > datagram_payload_max) {
    return Error(Code::invalid_argument, name() + ": a datagram has at most " +
                                             std::to_string(datagram_payload_max) + " bytes");
  }
  if (!has_room(bytes.size())) {
    // A lot for one turn, but the kernel may have room for it.
    send_queued();
    if (!has_room(bytes.size())) {
      return Error(Code::resource_exhausted,
                   name() + ": " + std::to_string(queued_.size()) + " datagrams wait to be sent");
    }
  }
  if (queued_bytes_.capacity() == 0) queued_bytes_ = loop_.buffers.lend();
  queued_bytes_.append(bytes);
  queued_.push_back({.peer = peer, .size = bytes.size()});
  loop_.add_due(*this);
  return {};
}

void UvUdpSocket::end_turn() {
  send_queued();
  if (writable_.pulse() > 0) loop_.keep_awake = true;
}

void UvUdpSocket::send_queued() {
  std::size_t done_count = 0;
  while (done_count < queued_.size() && !blocked_) {
    const auto next = std::span(queued_).subspan(done_count);
    const int sent = send_batch(next.first(std::min(next.size(), batch_count_max)));
    // If none was sent, the first one cannot be sent, which says nothing of the others.
    const bool is_lost = sent < 0 && errno != EAGAIN && errno != EINTR;
    if (sent < 0 && errno == EAGAIN) {
      blocked_ = true;
      watch(watched_events_ | UV_WRITABLE);
    }
    statistics_.lost_count += is_lost ? 1 : 0;
    statistics_.sent_count += static_cast<std::uint64_t>(std::max(sent, 0));
    for (int left = is_lost ? 1 : sent; left > 0; --left) {
      queued_bytes_.consume(queued_[done_count++].size);
    }
  }
  queued_.erase(queued_.begin(), queued_.begin() + static_cast<std::ptrdiff_t>(done_count));
  if (queued_.empty()) loop_.buffers.give_back(std::move(queued_bytes_));
}

// Like sendmmsg(): returns how many were sent, or -1 when not even the first was.
int UvUdpSocket::send_batch(std::span<const Queued> datagrams) {
  SendBatch& batch = *sending_;
  auto* next = const_cast<std::byte*>(queued_bytes_.bytes().data());  // It is only read.
  for (std::size_t index = 0; index < datagrams.size(); ++index) {
    const Queued& datagram = datagrams[index];
    batch.addresses[index] = socket_address_of(datagram.peer);
    batch.parts[index] = {.iov_base = next, .iov_len = datagram.size};
    msghdr& header = batch.messages[index].msg_hdr;
    header.msg_name = batch.addresses[index].get();
    header.msg_namelen = batch.addresses[index].size;
    header.msg_iov = &batch.parts[index];
    header.msg_iovlen = 1;
    next += datagram.size;
  }
  return ::sendmmsg(descriptor_, batch.messages.data(), static_cast<unsigned>(datagrams.size()),
                    MSG_DONTWAIT | MSG_NOSIGNAL);
}

void UvUdpSocket::close() {
  sink_ = nullptr;
  if (watch_ != nullptr) {
    send_queued();
    watch_->owner = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(&watch_->handle),
             [](uv_handle_t* handle) { delete static_cast<Watch*>(handle->data); });
    watch_ = nullptr;
    --loop_.open_count;
  }
  loop_.remove_due(*this);
  queued_.clear();
  loop_.buffers.give_back(std::move(queued_bytes_));
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  readable_.pulse();
  writable_.pulse();
}

}  // namespace corolane::net::detail
