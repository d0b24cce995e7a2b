// A server that is measured: in a process of its own, alone on its core, so that the CPU time of
// the process is what its work has cost, and nothing else is in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/process.h"

namespace corolane::bench {

// What a server is told, and tells, when it starts.
struct Seat {
  // Where the server keeps the number of its allocations, if it counts them.
  std::uint64_t* allocation_count;

  // Says on which port of 127.0.0.1 it listens: by then it accepts connections.
  static void announce(std::uint16_t port);
};

// Serves until it is killed; returns only to say why it cannot.
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
  // What the process has used so far, exact while it waits for something.
  std::chrono::nanoseconds cpu_time() const;
  std::uint64_t allocation_count() const { return *allocation_count_; }

 private:
  ServerProcess(Process process, const std::uint64_t* allocation_count, std::uint16_t port)
      : process_(std::move(process)), allocation_count_(allocation_count), port_(port) {}

  Process process_;
  const volatile std::uint64_t* allocation_count_;  // In memory that both processes see.
  std::uint16_t port_;
};

}  // namespace corolane::bench
