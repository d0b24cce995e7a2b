// SPDX-License-Identifier: MIT
// A server under measurement: it runs in its own process, alone on its core, so that the CPU time
// of the process is the exact cost of its work.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/process.h"

namespace corolane::bench {

// The exchange with a server when it starts.
struct Seat {
  // The server stores the number of its allocations here, if it counts them.
  std::uint64_t* allocation_count;

  // Reports the port of 127.0.0.1 on which the server already listens.
  static void announce(std::uint16_t port);
};

// Serves until it is killed; returns only on failure.
using Serve = std::function<Error(const Seat& seat)>;

// A server that is a program: it prints its port on a line and serves.
Serve program_server(std::string program, std::vector<std::string> arguments);

class ServerProcess {
 public:
  // Blocks until the server listens.
  static Result<ServerProcess> start(const Serve& serve);
  ServerProcess(ServerProcess&& other) noexcept = default;
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess() = default;

  std::uint16_t port() const { return port_; }
  // The CPU time of the process so far, exact while it waits.
  std::chrono::nanoseconds cpu_time() const;
  // The resident memory of the process now.
  std::size_t resident_bytes() const;
  std::uint64_t allocation_count() const { return *allocation_count_; }

 private:
  ServerProcess(Process process, const std::uint64_t* allocation_count, std::uint16_t port)
      : process_(std::move(process)), allocation_count_(allocation_count), port_(port) {}

  Process process_;
  const volatile std::uint64_t* allocation_count_;  // In shared memory.
  std::uint16_t port_;
};

}  // namespace corolane::bench
