// SPDX-License-Identifier: MIT
// Sessions of rpc (rpc/session.h), as their clients speak: they log in, answer pings, follow the
// crier of edge.proto, and acknowledge what they are pushed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/benchmarks/network/talk.h"

namespace corolane::bench {

class SessionTalk final : public Talk {
 public:
  struct Options {
    // The token of a client; empty: it logs in without one.
    std::function<std::string(std::size_t client)> token;
    // Whether a client acknowledges pushes as they come. Otherwise append_acknowledgement() does.
    bool acknowledges = false;
    // Told of each reply to a call of the user, with its code.
    std::function<void(std::uint64_t call_id, std::uint8_t code)> on_reply = {};
  };

  // The calls of the user have larger ids.
  static constexpr std::uint64_t joining_call_id = 1;
  static constexpr std::uint64_t request_call_id = 2;

  explicit SessionTalk(Options options);

  void append_greeting(std::size_t client, Bytes& out) override;
  // Follows the crier.
  void append_joining(std::size_t client, Bytes& out) override;
  // Lets the crier publish.
  void append_request(std::size_t client, Bytes& out) override;
  void append_acknowledgement(std::size_t client, Bytes& out) override;
  Result<void> hear(std::size_t client, std::span<const std::byte> message, Heard& heard,
                    Bytes& answer) override;

 private:
  const Options options_;
  const Bytes joining_;
  const Bytes request_;
  std::vector<std::uint64_t> received_;  // The number of the last push, of each client.
};

// Sessions whose principals are "PREFIX.0", "PREFIX.1" and so on, by tokens that are these texts.
MakeTalk session_talk(std::string prefix);

}  // namespace corolane::bench
