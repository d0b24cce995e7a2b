// SPDX-License-Identifier: MIT
// Processes that each make one run and report it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace corolane::sim {

// Belongs to one thread. A run that crashes, or that never ends, costs only its own process.
class SeedProcesses {
 public:
  struct Ended {
    std::uint64_t seed = 0;
    std::string report = {};
    std::string death = {};  // Why the process died before it had reported; empty: it did not.
  };

  // A process that takes longer than `time_max` of real time prints its tasks and dies.
  SeedProcesses(std::size_t count_max, std::chrono::seconds time_max)
      : count_max_(count_max), time_max_(time_max) {}
  ~SeedProcesses() { stop_from(0); }
  SeedProcesses(const SeedProcesses&) = delete;
  SeedProcesses& operator=(const SeedProcesses&) = delete;

  bool has_room() const { return processes_.size() < count_max_; }

  // Calls `work` in a process of its own, whose result is the report. A quiet process prints
  // nothing.
  void start(std::uint64_t seed, const std::function<std::string()>& work, bool is_quiet = false);

  // Waits until a process has ended; nothing when none is left. Blocks.
  std::optional<Ended> next();

  // Kills the processes of this seed and of later ones.
  void stop_from(std::uint64_t seed);

 private:
  struct Process {
    pid_t id = 0;
    int pipe = -1;
    std::uint64_t seed = 0;
    std::string report = {};
  };

  [[noreturn]] void run(int pipe, const std::function<std::string()>& work, bool is_quiet) const;
  Ended bury(std::size_t index);

  const std::size_t count_max_;
  const std::chrono::seconds time_max_;
  std::vector<Process> processes_;
};

}  // namespace corolane::sim
