// One connection of a raw epoll program: what the floors and the generators share.
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

// Which descriptors are ready.
class Epoll {
 public:
  static Result<Epoll> make();

  // Level-triggered. `token` comes back with each event.
  Result<void> add(int descriptor, std::uint32_t events, std::uint64_t token);
  Result<void> change(int descriptor, std::uint32_t events, std::uint64_t token);

  // Blocks until something is ready, at most so many milliseconds; -1 is for ever.
  std::span<const epoll_event> wait(int milliseconds = -1);

 private:
  explicit Epoll(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  Descriptor descriptor_;
  std::array<epoll_event, 256> events_{};
};

// A socket with the input that is no whole message yet, and the output that the kernel did not
// take.
class Flow {
 public:
  // One read at a time for the whole program: as much as a window of the rows.
  static constexpr std::size_t read_bytes = 256 * 1024;

  Flow(Descriptor socket, Epoll& epoll) : socket_(std::move(socket)), epoll_(&epoll) {}

  // Begins to wait for readability, in events with that token.
  Result<void> start(std::uint64_t token);

  // Reads once; what is there by now, with what was kept. Valid until the next read of any flow.
  Result<std::span<const std::byte>> read();
  // The end of what read() returned, for the next time.
  void keep(std::span<const std::byte> rest) { kept_.assign(rest.begin(), rest.end()); }

  // Writes once, behind what is still unsent.
  Result<void> write(std::span<const std::byte> bytes);
  // After the socket has become writable.
  Result<void> write_unsent();
  bool has_unsent() const { return !unsent_.empty(); }

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
