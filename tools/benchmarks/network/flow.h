// SPDX-License-Identifier: MIT
// One connection of a raw epoll program, for the floors and the generators.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/network/socket.h"

namespace corolane::bench {

// Waits for descriptors to become ready.
class Epoll {
 public:
  static Result<Epoll> make();

  // Level-triggered. Each event carries `token`.
  Result<void> add(int descriptor, std::uint32_t events, std::uint64_t token);
  Result<void> change(int descriptor, std::uint32_t events, std::uint64_t token);

  // Blocks until a descriptor is ready, or `milliseconds` have passed; -1: no limit.
  std::span<const epoll_event> wait(int milliseconds = -1);

 private:
  explicit Epoll(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  Descriptor descriptor_;
  std::array<epoll_event, 256> events_{};
};

// A socket with the input that is not a whole message yet, and the output that the kernel did not
// accept.
class Flow {
 public:
  // The size of a read: the largest window of the rows. The whole program shares one buffer.
  static constexpr std::size_t read_bytes = 256 * 1024;

  Flow(Descriptor socket, Epoll& epoll) : socket_(std::move(socket)), epoll_(&epoll) {}

  // Begins to wait for readability; its events carry `token`.
  Result<void> start(std::uint64_t token);

  // Reads once, and returns the kept bytes followed by the new ones. Valid until the next read of
  // any flow.
  Result<std::span<const std::byte>> read();
  // Keeps the end of the result of read() for the next read.
  void keep(std::span<const std::byte> rest) { kept_.assign(rest.begin(), rest.end()); }

  // Writes once, after all unsent bytes.
  Result<void> write(std::span<const std::byte> bytes);
  // Called when the socket has become writable.
  Result<void> write_unsent();
  bool has_unsent() const { return !unsent_.empty(); }
  int number() const { return socket_.number(); }

 private:
  Result<void> want_room(bool wanted);

  Descriptor socket_;
  Epoll* epoll_;
  std::uint64_t token_ = 0;
  std::vector<std::byte> kept_;
  std::vector<std::byte> unsent_;
  bool wants_room_ = false;
};

}  // namespace corolane::bench
