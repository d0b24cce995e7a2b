// SPDX-License-Identifier: MIT
// A UDP socket of the kernel, in batches: recvmmsg() and sendmmsg().
//
// Datagrams wait in the kernel until a reader takes them: there is no second queue. libuv only
// reports readiness (uv_poll). Its own uv_udp_t sends one datagram per system call, delivers them
// one by one, and needs 64 KiB of room for each.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coroutine/sync/event.h"
#include "net/detail/byte_buffer.h"
#include "net/detail/call_count.h"
#include "net/detail/due.h"
#include "net/udp.h"
#include "net/uv/event_loop.h"

namespace corolane::net::detail {

class UvUdpSocket final : public UdpSocket, public Due {
 public:
  UvUdpSocket(EventLoop::Impl& loop, const UdpOptions& options);
  ~UvUdpSocket() override;
  UvUdpSocket(const UvUdpSocket&) = delete;
  UvUdpSocket& operator=(const UvUdpSocket&) = delete;

  // Must be called first; after a failure it can only be destroyed.
  Result<void> bind(const Endpoint& endpoint);

  Result<std::span<const Datagram>> receive(Deadline deadline) override;
  void set_sink(DatagramSink& sink) override;
  Result<void> try_send(const UdpPeer& peer, std::span<const std::byte> bytes) override;
  Result<void> send(const UdpPeer& peer, std::span<const std::byte> bytes,
                    Deadline deadline) override;
  void close() override;
  const Endpoint& local_endpoint() const override { return local_; }
  const Statistics& statistics() const override { return statistics_; }

  void end_turn() override;

 private:
  struct Watch;         // The part that libuv holds.
  struct ReceiveBatch;  // Filled by the kernel,
  struct SendBatch;     // and emptied by it.
  struct Queued {
    UdpPeer peer;
    std::size_t size;
  };

  Result<void> open(const Endpoint& endpoint);
  void watch(int events);
  void on_ready(int status, int events);
  void push_batch();
  // Returns at least one datagram, or an empty batch when none has arrived.
  Result<std::span<const Datagram>> take_batch();
  Result<void> append(const UdpPeer& peer, std::span<const std::byte> bytes);
  bool has_room(std::size_t size) const;
  // Sends until the kernel takes no more.
  void send_queued();
  int send_batch(std::span<const Queued> datagrams);
  std::string name() const { return "UDP socket " + to_string(local_); }
  Error closed_error() const { return Error(Code::unavailable, name() + ": closed"); }

  EventLoop::Impl& loop_;
  const UdpOptions options_;
  Endpoint local_;
  int descriptor_ = -1;  // -1 while it is not bound.
  Watch* watch_ = nullptr;
  int watched_events_ = 0;
  Statistics statistics_;
  CallCount calls_;

  DatagramSink* sink_ = nullptr;
  std::unique_ptr<ReceiveBatch> received_;
  coroutine::Event readable_{"datagrams"};

  std::vector<Queued> queued_;
  ByteBuffer queued_bytes_;  // The payloads of all of them, concatenated.
  std::unique_ptr<SendBatch> sending_;
  bool blocked_ = false;  // The kernel takes nothing until it reports room.
  coroutine::Event writable_{"room for a datagram"};
};

}  // namespace corolane::net::detail
