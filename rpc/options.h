// SPDX-License-Identifier: MIT
// The options of both ends of a connection: which peers may connect, how dead ones are
// detected, how much work is admitted, and how a connection is shown.
//
//   Client::Options options{.security = {.cluster = "chess", .shared_key = key}};
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace corolane::net {
class Stream;
}

namespace corolane::rpc {

// The kind of peers that a listener serves, which decides what they may call and what is trusted.
enum class Door : std::uint8_t {
  // Nodes of the same cluster and equally trusted programs: every method.
  nodes,
  // All other peers, such as players: only methods with the option `public`. A server ignores
  // epochs and call chains from them.
  clients,
};

// The door of a listener. It has no default, since either one would be a trap: a program that
// forgets it does not compile.
class DoorChoice {
 public:
  DoorChoice() = delete;
  constexpr DoorChoice(Door door) : door_(door) {}   // NOLINT(google-explicit-constructor)
  constexpr operator Door() const { return door_; }  // NOLINT(google-explicit-constructor)

 private:
  Door door_;
};

// Which peers may connect: what both ends of a connection have to agree on.
struct Security {
  // Both ends name the same cluster, so that a test cluster never joins production by mistake.
  // Empty for a server that belongs to no cluster, and its clients.
  std::string cluster = {};

  // When it is not empty, both ends prove that they know it, without sending it, before the first
  // call is read. It keeps strangers out but encrypts nothing: that takes TLS.
  std::string shared_key = {};

  // For a server: accepts only peers with a TLS certificate (net::Stream::peer_identity()).
  bool needs_peer_certificate = false;

  // An eavesdropper on one handshake could brute-force shorter keys.
  static constexpr std::size_t shared_key_bytes_min = 16;
};

// How dead peers are detected: those that vanished without closing their connection.
struct Keepalive {
  // A peer that has been silent for this long is pinged. Below the half minute after which routers
  // begin to forget connections.
  std::chrono::milliseconds interval{10'000};
  // The peer is lost when nothing arrives for this long after the ping.
  std::chrono::milliseconds patience{5'000};
};

// How much work a server admits at a time. A call that is refused is refused on arrival.
struct AdmissionOptions {
  // The queue delay a call may have under a standing queue: half of a game's tick of 50 ms. With a
  // much smaller value, a few hundred players who each wait for one reply would look like overload.
  std::chrono::milliseconds delay_target{25};
  // The queue delay a call may have in a burst, after which the queue is empty again: about what
  // people notice.
  std::chrono::milliseconds delay_max{100};
  // A queue that stands for longer than this is not a burst.
  std::chrono::milliseconds interval{100};
  // The maximum number of waiting calls, at any rate.
  std::size_t waiting_max = 16'384;
  // The least retry_after of a refusal: callers come back after once to twice this time.
  std::chrono::milliseconds retry_after{100};
};

// A connection as its owner shows it to code that lists all connections. Valid only during the call
// that it is passed to.
struct ConnectionView {
  const net::Stream& stream;
  bool is_open = false;  // The handshake is done, and neither end has said bye.
  std::size_t running_count = 0;
  std::uint64_t answered_count = 0;  // Calls that have ended, successful or not.
};

}  // namespace corolane::rpc
