// SPDX-License-Identifier: MIT
// Writes the events of a simulation to files.
//
//   TraceFiles files("run.trace");
//   SimulatedCluster cluster(
//       {.reader = [&](const Trace::Event& event) { files.add(event, since_start(event.at)); }},
//       host_guilds);
//
// A test for many seeds leaves it to `corolane simulate` (simulated_test.h).
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "framework/testing/trace.h"

namespace corolane::sim {

// Writes text to `path`, and to `path`.json the trace event format that Perfetto reads, with each
// host as a thread.
class TraceFiles {
 public:
  explicit TraceFiles(const std::string& path);
  ~TraceFiles();
  TraceFiles(const TraceFiles&) = delete;
  TraceFiles& operator=(const TraceFiles&) = delete;

  // Returns false, and errno says why, when the files cannot be written.
  bool is_open() const { return text_ != nullptr && events_ != nullptr; }

  // `at` is the time since the start of the simulation.
  void add(const Trace::Event& event, Duration at);

 private:
  void write(const std::string& event);

  std::FILE* const text_;
  std::FILE* const events_;
  bool is_first_ = true;
  std::map<std::string, std::size_t, std::less<>> threads_;
};

}  // namespace corolane::sim
