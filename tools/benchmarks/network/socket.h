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

// Says what the system call that failed last was for.
Error system_error(const char* what);

struct ListeningSocket {
  Descriptor socket;
  std::uint16_t port;
};

// On a port that is free.
Result<ListeningSocket> listen_on_loopback();

// Blocks until connected, then the socket no longer does; nothing waits for more to send. From
// 127.0.0.`source`, each of which has as many ports as one machine.
Result<Descriptor> connect_to_loopback(std::uint16_t port, std::uint8_t source = 1);

// How many bytes were read, or written: 0 when the socket has none, or takes none, right now.
// Fails when the connection has ended.
Result<std::size_t> read_now(int socket, std::span<std::byte> buffer);
Result<std::size_t> write_now(int socket, std::span<const std::byte> bytes);

}  // namespace corolane::bench
