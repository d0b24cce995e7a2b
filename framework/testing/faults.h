// SPDX-License-Identifier: MIT
// Faults that strike a simulation at random (nemesis.h).
//
// A fault is a small text, so that it can be read, changed and left out:
//
//     # One node is cut off from all other hosts.
//     fault: cut_off
//     every: 12s
//     lasts_min: 100ms
//     lasts_max: 6s
//
// The standard faults are the files of framework/testing/faults/, which are compiled in. A test
// reads others of its own:
//
//   auto faults = standard_faults();
//   faults.push_back(*read_fault("test/faults/long_pause.yaml"));
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/choice.h"
#include "config/section.h"
#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"

namespace corolane::sim {

enum class FaultKind : std::uint8_t {
  crash,               // A process dies, and is restarted afterwards.
  crash_in_section,    // The same at a step of a marked section (section_crashes.h).
  power_off,           // A machine dies without notice to its peers.
  drain,               // A node is drained, and restarted.
  move,                // `amount` partitions are pinned to a node, and go back.
  pause,               // A process stands still, or is busy with work that does not suspend.
  skew_clock,          // A clock drifts by up to `amount` ppm; the time of day is off by seconds.
  few_stacks,          // A node is restarted with memory for `amount` tasks.
  reset,               // A connection breaks.
  delay,               // The latency between two hosts rises by up to `amount` milliseconds.
  cut_one_way,         // Messages from one host to another are held back.
  cut_off,             // One node is cut off from all hosts, directory and store included.
  cut_directory,       // The directory is cut off from one node, or from all.
  part,                // Two groups of nodes are cut off from each other.
  no_leader,           // The directory has no leader.
  replaced_directory,  // The directory loses its data; in the end operators accept the new one.
  slow_directory,      // The directory takes up to `amount` milliseconds longer.
  mute_directory,      // One of `amount` answers of the directory is lost.
  late_commits,  // One of `amount` transactions commits late; watchers learn of it later still.
  late_lease,    // Keepalives are applied or answered up to `amount` milliseconds late.
  late_watch,    // Changes reach watchers up to `amount` milliseconds late.
  watch_gap,     // Watchers miss one of `amount` changes.
  slow_store,    // The store takes up to `amount` milliseconds longer.
  no_store,      // The store refuses everything.
  full_store,    // The store refuses writes.
  mute_store,    // One of `amount` writes is applied and not answered.
  late_writes,   // One of `amount` writes is applied long after its caller gave up.
  // The store forgets all that it has confirmed meanwhile. Not one of the standard faults: no
  // system keeps its promises then.
  lose_writes,
};

constexpr auto choices(FaultKind) {
  return std::to_array<config::Choice<FaultKind>>({
      {"crash", FaultKind::crash},
      {"crash_in_section", FaultKind::crash_in_section},
      {"power_off", FaultKind::power_off},
      {"drain", FaultKind::drain},
      {"move", FaultKind::move},
      {"pause", FaultKind::pause},
      {"skew_clock", FaultKind::skew_clock},
      {"few_stacks", FaultKind::few_stacks},
      {"reset", FaultKind::reset},
      {"delay", FaultKind::delay},
      {"cut_one_way", FaultKind::cut_one_way},
      {"cut_off", FaultKind::cut_off},
      {"cut_directory", FaultKind::cut_directory},
      {"part", FaultKind::part},
      {"no_leader", FaultKind::no_leader},
      {"replaced_directory", FaultKind::replaced_directory},
      {"slow_directory", FaultKind::slow_directory},
      {"mute_directory", FaultKind::mute_directory},
      {"late_commits", FaultKind::late_commits},
      {"late_lease", FaultKind::late_lease},
      {"late_watch", FaultKind::late_watch},
      {"watch_gap", FaultKind::watch_gap},
      {"slow_store", FaultKind::slow_store},
      {"no_store", FaultKind::no_store},
      {"full_store", FaultKind::full_store},
      {"mute_store", FaultKind::mute_store},
      {"late_writes", FaultKind::late_writes},
      {"lose_writes", FaultKind::lose_writes},
  });
}

// "crash"
std::string_view name_of(FaultKind kind);

struct Fault {
  std::string name = {};  // The file's name without .yaml.
  std::string path = {};  // Empty for a standard fault.
  FaultKind fault = FaultKind::crash;
  Duration every = std::chrono::seconds(15);  // On average.
  Duration lasts_min = std::chrono::milliseconds(100);
  Duration lasts_max = std::chrono::seconds(3);
  std::uint32_t amount = 0;
};

void describe(config::Section& section, Fault& value);

// Fails like config::load_file(), and with invalid_argument.
Result<Fault> read_fault(const std::string& path);
// Reads every file NAME.yaml of `folder`, sorted by name. Fails with not_found, or like
// config::load_file().
Result<std::vector<Fault>> read_faults(const std::string& folder);

// All faults of framework/testing/faults/: of the network first, then of machines.
const std::vector<Fault>& standard_faults();

// The faults of a list such as "crash,reset,my_faults/slow.yaml": names of standard faults, files,
// folders, "all" for every standard fault, "none". Fails with not_found, or like read_fault().
Result<std::vector<Fault>> find_faults(std::string_view list);

}  // namespace corolane::sim
