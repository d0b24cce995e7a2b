// SPDX-License-Identifier: MIT
// Sockets as the floors and the generators use them: raw, non-blocking, on 127.0.0.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "coroutine/base/result.h"

namespace corolane::bench {

// Owns a descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }

 private:
  int number_;
};

// Describes the last failure of a system call; `what` names the call.
Error system_error(const char* what);

struct ListeningSocket {
  Descriptor socket;
  std::uint16_t port;
};

// Listens on a free port.
Result<ListeningSocket> listen_on_loopback();

// Blocks until connected; the returned socket is non-blocking, with TCP_NODELAY. Connects from
// 127.0.0.`source`; each source address has a full range of ports.
Result<Descriptor> connect_to_loopback(std::uint16_t port, std::uint8_t source = 1);

// Return the number of bytes read or written: 0 when the socket is not ready. Fail when the
// connection has ended.
Result<std::size_t> read_now(int socket, std::span<std::byte> buffer);
Result<std::size_t> write_now(int socket, std::span<const std::byte> bytes);

}  // namespace corolane::bench
