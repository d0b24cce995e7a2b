// SPDX-License-Identifier: MIT
// Datagrams wait at their receiver, sorted by due time.
#include "net/testing/udp_socket.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"

namespace corolane::sim {

Result<std::unique_ptr<net::UdpSocket>> SimulatedUdpSocket::bind(SimulatedNetwork& network,
                                                                 const net::Endpoint& endpoint,
                                                                 const net::UdpOptions& options) {
  if (auto numeric = net::to_udp_peer(endpoint); !numeric) return numeric.error();
  net::Endpoint local = endpoint;
  if (local.port == 0) local.port = ++network.last_port_;
  if (network.udp_sockets_.contains(local)) {
    return Error(Code::already_exists, "bind UDP " + to_string(local) + ": in use");
  }
  return std::make_unique<SimulatedUdpSocket>(network, std::move(local), options);
}

SimulatedUdpSocket::SimulatedUdpSocket(SimulatedNetwork& network, net::Endpoint local,
                                       net::UdpOptions options)
    : Timer([](Timer& timer) { static_cast<SimulatedUdpSocket&>(timer).deliver_due(); }),
      network_(network),
      local_(std::move(local)),
      options_(options) {
  network_.udp_sockets_[local_] = this;
}

Result<std::span<const net::Datagram>> SimulatedUdpSocket::receive(Deadline deadline) {
  check(sink_ == nullptr, "a socket with a sink has no other reader");
  if (auto turn = coroutine::yield(); !turn) return turn.error();
  while (!closed_) {
    if (const auto batch = take_batch(); !batch.empty()) return batch;
    if (auto waited = readable_.wait(deadline); !waited) return waited.error();
  }
  return Error(Code::unavailable, "UDP socket " + to_string(local_) + ": closed");
}

void SimulatedUdpSocket::set_sink(net::DatagramSink& sink) {
  if (closed_) return;
  sink_ = &sink;
  if (!arriving_.empty()) arm(Deadline::at(arriving_.front().due));
}

Result<void> SimulatedUdpSocket::try_send(const net::UdpPeer& peer,
                                          std::span<const std::byte> bytes) {
  if (closed_) return Error(Code::unavailable, "UDP socket " + to_string(local_) + ": closed");
  if (bytes.size() > net::datagram_payload_max) {
    return Error(Code::invalid_argument, "a datagram has at most 65507 bytes");
  }
  ++statistics_.sent_count;
  network_.deliver(local_, to_endpoint(peer), bytes);
  return {};
}

Result<void> SimulatedUdpSocket::send(const net::UdpPeer& peer, std::span<const std::byte> bytes,
                                      Deadline) {
  return try_send(peer, bytes);
}

void SimulatedUdpSocket::close() {
  if (std::exchange(closed_, true)) return;
  Timer::cancel();
  sink_ = nullptr;
  network_.udp_sockets_.erase(local_);
  readable_.pulse();
}

void SimulatedUdpSocket::arrive(const net::Endpoint& from, std::span<const std::byte> bytes,
                                Duration delay) {
  if (arriving_bytes_ + bytes.size() > options_.receive_buffer_bytes) return;
  arriving_bytes_ += bytes.size();
  Arriving datagram{
      .peer = *net::to_udp_peer(from), .bytes = {bytes.begin(), bytes.end()}, .due = now() + delay};
  const auto later = [](TimePoint due, const Arriving& other) { return due < other.due; };
  arriving_.insert(std::upper_bound(arriving_.begin(), arriving_.end(), datagram.due, later),
                   std::move(datagram));
  arm(Deadline::at(arriving_.front().due));
}

void SimulatedUdpSocket::arm(Deadline deadline) {
  coroutine::Scheduler::current().timers().arm(*this, deadline);
}

void SimulatedUdpSocket::deliver_due() {
  if (sink_ == nullptr) {
    readable_.pulse();
    return;
  }
  if (const auto batch = take_batch(); !batch.empty()) sink_->on_datagrams(batch);
  if (!closed_ && !arriving_.empty()) arm(Deadline::at(arriving_.front().due));
}

std::span<const net::Datagram> SimulatedUdpSocket::take_batch() {
  batch_.clear();
  datagrams_.clear();
  while (!arriving_.empty() && arriving_.front().due <= now()) {
    arriving_bytes_ -= arriving_.front().bytes.size();
    batch_.push_back(std::move(arriving_.front()));
    arriving_.pop_front();
  }
  for (const Arriving& arrived : batch_) {
    const std::size_t size = std::min(arrived.bytes.size(), options_.datagram_bytes_max);
    const bool is_truncated = size < arrived.bytes.size();
    datagrams_.push_back({.peer = arrived.peer,
                          .bytes = std::span(arrived.bytes).first(size),
                          .is_truncated = is_truncated});
    if (is_truncated) ++statistics_.truncated_count;
  }
  statistics_.received_count += datagrams_.size();
  if (!arriving_.empty() && sink_ == nullptr) arm(Deadline::at(arriving_.front().due));
  return datagrams_;
}

}  // namespace corolane::sim
