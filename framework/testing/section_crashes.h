// SPDX-License-Identifier: MIT
// Crashes a node of a simulated cluster at an exact step of a marked section.
//
//   cluster.sections().arm({.section = "bid", .step = 2, .has_ended = true},
//                          [&](std::size_t node) { cluster.restart(node); });
//
// A section (coroutine/marked_section.h) has two moments for each of its steps: the step is under
// way, so that its request has left the node and its outcome is open; and the step has ended, while
// the code behind it has not run. The fault crash_in_section (nemesis.h) goes through all moments.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/marked_section.h"
#include "coroutine/testing/random.h"

namespace corolane::sim {

class SimulatedCluster;

struct SectionMoment {
  std::string section = {};
  std::uint32_t step = 0;  // Counted from 1; 0 has ended when the section begins.
  bool has_ended = true;

  auto operator<=>(const SectionMoment&) const = default;
};

// "bid, after step 2"
std::string to_text(const SectionMoment& moment);

// Belongs to a cluster. Called from outside of hosts, unless stated otherwise.
class SectionCrashes final : public coroutine::SectionObserver {
 public:
  // Called after the crash, outside of all hosts; the node stays down until it is restarted.
  using OnCrash = std::function<void(std::size_t node)>;

  explicit SectionCrashes(SimulatedCluster& cluster);
  ~SectionCrashes() override;
  SectionCrashes(const SectionCrashes&) = delete;
  SectionCrashes& operator=(const SectionCrashes&) = delete;

  // The next node that reaches the moment crashes there, once. Replaces what was armed before.
  void arm(SectionMoment moment, OnCrash on_crash);
  // Chooses one of the usual moments, of those that had the fewest crashes so far.
  void arm_any(test::Random& dice, OnCrash on_crash);
  void disarm() { on_crash_ = nullptr; }

  struct Visits {
    std::uint64_t count = 0;
    std::uint64_t crashes = 0;
  };
  // All moments that nodes have reached.
  const std::map<SectionMoment, Visits>& moments() const { return moments_; }
  // Those that are not rare: a call that is retried for a while has many steps, which are.
  std::vector<SectionMoment> usual_moments() const;

  void on_step_ended(const coroutine::MarkedSection& section, std::uint32_t steps) override;
  void on_step_suspends(const coroutine::MarkedSection& section, std::uint32_t step) override;

 private:
  struct Life {  // Of a node.
    std::size_t node;
    std::uint64_t number;

    bool operator==(const Life&) const = default;
  };

  // The node whose task runs; empty for a client, and for a node that has been killed.
  std::optional<Life> running() const;
  void reach(SectionMoment moment, const Life& life);
  void crash(const SectionMoment& moment, const Life& life);

  SimulatedCluster& cluster_;
  coroutine::SectionObserver* const previous_;
  std::map<SectionMoment, Visits> moments_;
  std::optional<SectionMoment> armed_;  // Empty: the first moment that is reached.
  OnCrash on_crash_;                    // Null: nothing is armed.
  std::optional<Life> dying_;           // Crashes at the end of this step.
};

}  // namespace corolane::sim
