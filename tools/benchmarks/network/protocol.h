// How requests and replies look as bytes, for the generator: each protocol numbers the requests
// under way on a connection by slots, and tells which of them a reply belongs to.
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
  std::vector<Slot> refused = {};  // The server is overloaded, it says.
};

// One connection's view. Batches are its unit, so that a call through a virtual function is paid
// once for all that one read has brought.
class Protocol {
 public:
  virtual ~Protocol() = default;

  // What a client says first, and takes from the front of `input` until is_greeted(): requests wait
  // for that.
  virtual void append_greeting(Bytes&) {}
  virtual Result<std::size_t> take_greeting(std::span<const std::byte>) { return std::size_t{0}; }
  virtual bool is_greeted() const { return true; }

  virtual void append_requests(std::span<const Slot> slots, Bytes& out) = 0;

  // Takes whole replies from the front of `input`, appends the slots that they answer and returns
  // how many bytes they were. Fails on what is neither a success nor a refusal for load.
  virtual Result<std::size_t> take_replies(std::span<const std::byte> input, Replies& replies) = 0;
};

// Of one message of an echo.
inline constexpr std::size_t echo_bytes = 64;

using MakeProtocol = std::unique_ptr<Protocol> (*)();

// Slots of a protocol whose replies come in the order of the requests.
class SlotQueue {
 public:
  void push(std::span<const Slot> slots) {
    slots_.insert(slots_.end(), slots.begin(), slots.end());
  }
  // Fails when nothing was asked.
  Result<void> pop_to(std::vector<Slot>& answered);

 private:
  std::deque<Slot> slots_;
};

// 64 bytes there, the same 64 bytes back.
std::unique_ptr<Protocol> echo_protocol();
// Method corolane.bench.Echo/Echo of 100 bytes in the frames of rpc/wire/frame.h, with a deadline
// of a second; and the same for its other methods.
std::unique_ptr<Protocol> rpc_echo_protocol();
std::unique_ptr<Protocol> rpc_park_protocol();
std::unique_ptr<Protocol> rpc_burn_protocol();
// 64 bytes in a masked binary frame, after the handshake of RFC 6455.
std::unique_ptr<Protocol> websocket_protocol();
// GET /; and a POST of the same echo as JSON, as the Connect protocol has it.
std::unique_ptr<Protocol> http_plain_protocol();
std::unique_ptr<Protocol> http_json_protocol();

}  // namespace corolane::bench
