// SPDX-License-Identifier: MIT
// Requests and replies as bytes, for the generator. Each protocol numbers the requests in flight on
// a connection by slots, and finds the slot of each reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::bench {

using Bytes = std::vector<std::byte>;
using Slot = std::uint32_t;

struct Replies {
  std::vector<Slot> answered = {};
  std::vector<Slot> refused = {};  // The server reports that it is overloaded.
};

// The protocol of one connection. It works in batches, so that one virtual call handles all bytes
// of a read.
class Protocol {
 public:
  virtual ~Protocol() = default;

  // A client sends a greeting first, and takes the server's from the front of `input` until
  // is_greeted(). Requests wait for that.
  virtual void append_greeting(Bytes&) {}
  virtual Result<std::size_t> take_greeting(std::span<const std::byte>) { return std::size_t{0}; }
  virtual bool is_greeted() const { return true; }

  virtual void append_requests(std::span<const Slot> slots, Bytes& out) = 0;

  // Takes whole replies from the front of `input`, appends the slots that they answer and returns
  // their size in bytes. Fails on a reply that is neither a success nor a refusal for overload.
  virtual Result<std::size_t> take_replies(std::span<const std::byte> input, Replies& replies) = 0;
};

// The size of an echo message.
inline constexpr std::size_t echo_bytes = 64;

using MakeProtocol = std::unique_ptr<Protocol> (*)();

// Slots of a protocol whose replies arrive in the order of the requests.
class SlotQueue {
 public:
  void push(std::span<const Slot> slots) {
    slots_.insert(slots_.end(), slots.begin(), slots.end());
  }
  // Fails when no request is in flight.
  Result<void> pop_to(std::vector<Slot>& answered);

 private:
  std::deque<Slot> slots_;
};

// 64 bytes there, the same 64 bytes back.
std::unique_ptr<Protocol> echo_protocol();
// The method corolane.bench.Echo/Echo with 100 bytes in the frames of rpc/wire/frame.h and a
// deadline of a second; the others call the service's other methods.
std::unique_ptr<Protocol> rpc_echo_protocol();
std::unique_ptr<Protocol> rpc_park_protocol();
std::unique_ptr<Protocol> rpc_burn_protocol();
// 64 bytes in a masked binary frame, after the handshake of RFC 6455.
std::unique_ptr<Protocol> websocket_protocol();
// GET /, and POSTs of the same calls as JSON in the Connect protocol.
std::unique_ptr<Protocol> http_plain_protocol();
std::unique_ptr<Protocol> http_json_protocol();
std::unique_ptr<Protocol> http_burn_protocol();

}  // namespace corolane::bench
