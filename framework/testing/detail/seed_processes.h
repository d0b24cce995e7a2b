// Processes that run seeds one after the other, and report the outcomes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/simulation/run.h"

namespace corolane::sim {

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last = 200;

  std::uint64_t count() const { return last - first + 1; }
};

// The outcome of a seed.
struct Outcome {
  std::uint64_t seed = 0;
  std::string violation;  // The first violation; empty: none.
  bool differs = false;   // Its second run had another hash.
  bool ran_twice = false;
  std::uint64_t hash = 0;
  Duration simulated{};
  Duration took{};
  std::uint64_t faults = 0;
  std::uint64_t calls = 0;
  std::uint64_t writes = 0;
  std::uint64_t games = 0;
  std::map<std::string, bool> marks;
};

class Workers {
 public:
  // Starts `job_count` processes that run all seeds.
  Workers(const RunPlan& plan, const Seeds& seeds, std::size_t job_count);
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Returns the next outcome; empty when all seeds are done. A worker that dies fails its seed.
  // Blocks.
  std::optional<Outcome> next();

  void stop();

 private:
  struct Worker {
    pid_t process;
    int pipe;
    std::uint64_t next_seed;
    std::uint64_t step;
    std::string text;
  };

  void begin(const RunPlan& plan, const Seeds& seeds, std::size_t job, std::size_t jobs);
  static std::optional<Outcome> take_line(Worker& worker);
  std::optional<Outcome> read_from(std::size_t index);

  std::vector<Worker> workers_;
};

}  // namespace corolane::sim
