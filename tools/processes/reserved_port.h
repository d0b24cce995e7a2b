// SPDX-License-Identifier: MIT
// A port of 127.0.0.1 for a server that has to be told its port, which no other test takes
// meanwhile, not even while the server restarts.
//
//   const ReservedPort port;
//   ChildProcess server("redis-server", {"--port", std::to_string(port.number())});
//
// The reservation is a socket that is bound with SO_REUSEADDR and does not listen: Linux lets a
// server that sets this option, too, listen beside it, and refuses every bind without the option.
#pragma once

#include <cstdint>

namespace corolane::test {

class ReservedPort {
 public:
  ReservedPort();
  ~ReservedPort();
  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;

  std::uint16_t number() const { return number_; }

 private:
  const int socket_;
  std::uint16_t number_ = 0;
};

}  // namespace corolane::test
