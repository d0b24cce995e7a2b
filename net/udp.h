// SPDX-License-Identifier: MIT
// Datagrams: small messages that may be lost, duplicated or reordered, and never wait for one
// another.
//
//   auto socket = network.bind_udp({.address = "0.0.0.0", .port = 8461});
//   if (!socket) return socket.error();
//   for (;;) {
//     auto batch = (*socket)->receive(deadline);
//     if (!batch) return batch.error();
//     for (const Datagram& datagram : *batch) answer(**socket, datagram);
//   }
//
// One system call receives all datagrams of a batch, and one at the end of a turn of the loop sends
// all that were written in it. Receiving and sending allocate nothing. Receiving is linear, as
// above, or push: a DatagramSink is called on the loop's stack.
//
// All of it belongs to one scheduler's thread.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/endpoint.h"

namespace corolane::net {

// The largest payload of a datagram over IPv4.
constexpr std::size_t datagram_payload_max = 65'507;

struct UdpOptions {
  // Longer datagrams arrive truncated to this size, and are marked so. It has room for an
  // unfragmented Ethernet packet; fragments are lost more often, so protocols keep below that.
  // Between 1 and datagram_payload_max.
  std::size_t datagram_bytes_max = 2048;
  // Datagrams that wait until the kernel takes them: a tick's worth for a thousand players. Full
  // only while the network is slower than the sender.
  std::size_t output_count_max = 1024;
  // The bound for their payloads together: at the usual size, as many.
  std::size_t output_bytes_max = 2 * 1024 * 1024;
  // Requested from the kernel for input that arrives while the loop is busy: its own default drops
  // datagrams after some 90 of 1,000 bytes. The kernel may grant less (net.core.rmem_max).
  std::size_t receive_buffer_bytes = 1024 * 1024;
};

// The sender of a datagram: an Endpoint as 24 bytes, which needs no allocation and makes a good
// key.
struct UdpPeer {
  std::array<std::uint8_t, 16> address{};  // In network byte order; IPv4 in the first four.
  std::uint32_t scope_id = 0;              // The interface of a link-local IPv6 address.
  std::uint16_t port = 0;
  bool is_ipv6 = false;

  friend auto operator<=>(const UdpPeer&, const UdpPeer&) = default;
};

// Fails with invalid_argument when the address is not numeric.
Result<UdpPeer> to_udp_peer(const Endpoint& endpoint);
Endpoint to_endpoint(const UdpPeer& peer);

struct Datagram {
  UdpPeer peer;
  std::span<const std::byte> bytes;
  bool is_truncated = false;  // It was longer than UdpOptions::datagram_bytes_max.
};

// Receives datagrams, on the loop's stack: must not suspend. The sink may only close this socket,
// which ends the calls.
class DatagramSink {
 public:
  // At least one datagram; they are valid during the call only.
  virtual void on_datagrams(std::span<const Datagram> datagrams) = 0;

 protected:
  ~DatagramSink() = default;
};

class UdpSocket {
 public:
  struct Statistics {
    std::uint64_t received_count = 0;
    std::uint64_t truncated_count = 0;
    std::uint64_t sent_count = 0;  // Taken by the kernel.
    std::uint64_t lost_count = 0;  // Refused by the kernel: no route to the peer, for example.
  };

  // Closes it. No task may be inside one of its calls, nor woken from one and not yet run.
  virtual ~UdpSocket() = default;

  // Linear receiving: suspends until datagrams have arrived and returns some of them, valid until
  // the next call. Fails with deadline_exceeded or cancelled, and with unavailable after close().
  // One task at a time.
  virtual Result<std::span<const Datagram>> receive(Deadline deadline) = 0;

  // Push receiving, from now on. The sink outlives the socket or its close(); another one replaces
  // it.
  virtual void set_sink(DatagramSink& sink) = 0;

  // Push sending: never suspends. Fails with resource_exhausted when too much is queued, with
  // invalid_argument above datagram_payload_max, with unavailable after close(). Success does not
  // even mean that the datagram leaves this machine.
  virtual Result<void> try_send(const UdpPeer& peer, std::span<const std::byte> bytes) = 0;

  // Linear sending: suspends while too much is queued. Fails as try_send() does otherwise; with
  // deadline_exceeded or cancelled the datagram is not sent.
  virtual Result<void> send(const UdpPeer& peer, std::span<const std::byte> bytes,
                            Deadline deadline) = 0;

  // Sends the part of the queue that the kernel takes at once, drops the rest, and closes. Waiting
  // calls end with unavailable, the sink is not called again. Never suspends; may be called by the
  // sink.
  virtual void close() = 0;

  // Its port is the actual one when 0 was requested.
  virtual const Endpoint& local_endpoint() const = 0;
  virtual const Statistics& statistics() const = 0;
};

}  // namespace corolane::net

template <>
struct std::hash<corolane::net::UdpPeer> {
  std::size_t operator()(const corolane::net::UdpPeer& peer) const {
    // Covers all but the flag and the padding behind it.
    constexpr std::size_t size = offsetof(corolane::net::UdpPeer, is_ipv6);
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(&peer), size});
  }
};
