// SPDX-License-Identifier: MIT
// One function for each group of rows. Each row describes one operation in a sentence; the bars are
// the project's own goals.
#include "tools/benchmarks/coroutine_rows.h"

#include <utility>

#include "tools/benchmarks/child_process.h"
#include "tools/benchmarks/floor/records.h"
#include "tools/benchmarks/floor/threads.h"
#include "tools/benchmarks/ours/ours.h"
#include "tools/benchmarks/peers/peer.h"

namespace corolane::bench {
namespace {

constexpr const char* round_trip_name = "fcontext_tuned round trip";
// The limit for a million suspended tasks: 4.5 GB together.
constexpr double bytes_per_task_max = 4'500;
// The limit for ten million suspended stackless coroutines: 2.2 GB together.
constexpr double bytes_per_stackless_max = 220;

Bar at_most(double ratio) { return {.bound = Bound::at_most, .ratio = ratio}; }
Bar at_least(double ratio) { return {.bound = Bound::at_least, .ratio = ratio}; }

Measure constant(double value) {
  return [value]() -> Result<Measurement> { return Measurement{.value = value}; };
}

// Binds a function of a peer to its arguments.
template <typename Function, typename... Arguments>
Measure measure_of(const Peer& peer, Function Peer::* function, Arguments... arguments) {
  return [=, function = peer.*function] { return function(arguments...); };
}

// The same for every peer with that function, except the limit itself.
template <typename Function, typename... Arguments>
std::vector<Contestant> peers_with(const std::string& limit_name, Function Peer::* function,
                                   Arguments... arguments) {
  std::vector<Contestant> peers;
  for (const Peer* const peer : cpp_peers()) {
    if (peer->*function == nullptr || peer->name == limit_name) continue;
    peers.push_back({.name = peer->name, .measure = measure_of(*peer, function, arguments...)});
  }
  return peers;
}

// Two jumps, into the loop and out of it: the limit of yield/1.
Measure round_trip() { return measure_of(fcontext_tuned_peer, &Peer::yield, Ring{.count = 1}); }

Row yield_row(std::string name, Ring ring, double ratio_max, std::size_t round_factor = 1) {
  const std::string limit_name = fcontext_tuned_peer.name;
  return {.info = {.name = std::move(name),
                   .unit = "ns",
                   .operation = "a coroutine is entered, counts, and suspends again",
                   .limit_name = limit_name,
                   .bar = at_most(ratio_max)},
          .ours = measure_of(our_peer, &Peer::yield, ring),
          .limit = measure_of(fcontext_tuned_peer, &Peer::yield, ring),
          .peers = peers_with(limit_name, &Peer::yield, ring),
          .round_factor = round_factor};
}

// Each of these switches reaches a page whose address no cache of translations holds. To add one to
// a word of each stack takes half of the time already, or more: both sides wait for the same, and
// a neighbour on the machine makes that take several times as long.
Row yield_among_many_row(std::string name, bool random) {
  return yield_row(std::move(name), {.count = 30'000, .random = random}, 1.25, 5);
}

// A warm task touches about twice the cache lines of a bare context: it also has an id, a place in
// its scheduler and a result. Among 1,000 these lines fill the second-level cache, so the ratio is
// between 1.3 and 1.7, depending on what the neighbour of the core leaves of that cache.
Row create_row(std::string name, std::size_t count, Warmth warmth, double ratio_max) {
  const std::string limit_name = fcontext_peer.name;
  return {.info = {.name = std::move(name),
                   .unit = "ns",
                   .operation = "one of many at once is created, entered, ended and recycled",
                   .limit_name = limit_name,
                   .bar = at_most(ratio_max)},
          .ours = measure_of(our_peer, &Peer::create, count, warmth),
          .limit = measure_of(fcontext_peer, &Peer::create, count, warmth),
          .peers = peers_with(limit_name, &Peer::create, count, warmth),
          .round_factor = warmth == Warmth::warm ? std::size_t{3} : std::size_t{1}};
}

Row memory_row(std::string name, std::size_t count) {
  return {.info = {.name = std::move(name),
                   .unit = "bytes",
                   .operation = "resident memory of one of many suspended coroutines",
                   .limit_name = "4.5 GB for a million",
                   .bar = at_most(1)},
          .ours = measure_of(our_peer, &Peer::memory, count),
          .limit = constant(bytes_per_task_max),
          .peers = peers_with("", &Peer::memory, count),
          .costly = count >= 1'000'000};
}

Row stackless_memory_row(std::string name, std::size_t count) {
  return {.info = {.name = std::move(name),
                   .unit = "bytes",
                   .operation = "resident memory of one of many suspended stackless coroutines",
                   .limit_name = "2.2 GB for ten million",
                   .bar = at_most(1)},
          .ours = [count] { return our_stackless_memory(count); },
          .limit = constant(bytes_per_stackless_max),
          .costly = true};
}

template <typename Function, typename... Arguments>
Row row_against_round_trip(std::string name, std::string operation, Bar bar,
                           Function Peer::* function, Arguments... arguments) {
  return {.info = {.name = std::move(name),
                   .unit = "ns",
                   .operation = std::move(operation),
                   .limit_name = round_trip_name,
                   .bar = bar},
          .ours = measure_of(our_peer, function, arguments...),
          .limit = round_trip(),
          .peers = peers_with("", function, arguments...)};
}

Row timer_row(std::string name, std::string operation, Bar bar, TimerStep step) {
  bar.no_allocations = true;
  return row_against_round_trip(std::move(name), std::move(operation), bar, &Peer::timer, step);
}

// Waits for memory, whose time differs from machine to machine and from minute to minute; a round
// trip between two hot tasks would not show that.
Row cancel_row() {
  Row row = timer_row("timer/cancel_random", "one of a million timers is cancelled", at_most(4),
                      TimerStep::cancel_random);
  row.info.limit_name = "one of a million records is touched";
  row.limit = floor_random_record;
  return row;
}

Row pool_row(std::string name, std::string operation, Measure ours, double percentage) {
  return {.info = {.name = std::move(name),
                   .unit = "%",
                   .operation = std::move(operation),
                   .limit_name = "required",
                   .bar = at_least(1)},
          .ours = std::move(ours),
          .limit = constant(percentage)};
}

Row swing_row(std::string name, std::size_t low, std::size_t high) {
  return pool_row(
      std::move(name),
      "stacks from the pool in the worst swing after the first; a second up, a second down",
      [=] { return our_pool_swing(low, high); }, 99);
}

Row after_burst_row() {
  return {.info = {.name = "pool/after_burst",
                   .unit = "MB",
                   .operation = "resident memory after 10,000 tasks at once and 15 s of quiet",
                   .limit_name = "before the burst",
                   .bar = at_most(1.1)},
          .ours = our_memory_after_burst,
          .limit = our_memory_at_floor};
}

Row call_on_row() {
  return {
      .info = {.name = "call_on",
               .unit = "ns",
               .operation = "another thread's scheduler runs a function, and the result returns; "
                            "the CPU time of both threads",
               .limit_name = "a pair of eventfds",
               .bar = at_most(2)},
      .ours = our_call_on,
      .limit = floor_eventfd_pair,
      .peers = {{.name = "a pair of spinning atomics", .measure = floor_atomic_pair}}};
}

Row sampling_row() {
  return {.info = {.name = "sampling",
                   .unit = "%",
                   .operation = "a yield between two tasks with the sampling of production",
                   .limit_name = "sampling off",
                   .bar = at_most(1.02)},
          .ours = our_sampling_cost,
          .limit = constant(100)};
}

std::vector<Row> our_rows() {
  std::vector<Row> rows;
  rows.push_back(yield_row("yield/1", {.count = 1}, 0.8));
  rows.push_back(yield_row("yield/1000x2MiB", {.count = 1'000, .stack_size_bytes = 2 << 20}, 0.8));
  rows.push_back(yield_among_many_row("yield/30000x64KiB", false));
  rows.push_back(yield_among_many_row("yield/30000x64KiB/random", true));
  rows.push_back(create_row("create/1000/cold", 1'000, Warmth::cold, 0.5));
  rows.push_back(create_row("create/1000/warm", 1'000, Warmth::warm, 2));
  rows.push_back(create_row("create/30000/cold", 30'000, Warmth::cold, 0.5));
  rows.push_back(create_row("create/30000/warm", 30'000, Warmth::warm, 1.1));
  rows.push_back(memory_row("memory/30000", 30'000));
  rows.push_back(memory_row("memory/1000000", 1'000'000));
  rows.push_back(stackless_memory_row("memory/stackless_10000000", 10'000'000));
  rows.push_back(row_against_round_trip("spawn_join", "a child is spawned, runs and is joined",
                                        at_most(8), &Peer::spawn_join));
  rows.push_back(row_against_round_trip(
      "pingpong", "a value goes to another task over a channel and comes back over a second one",
      at_most(6), &Peer::pingpong));
  rows.push_back(row_against_round_trip(
      "await", "a stackless child is created, awaited and destroyed", at_most(1.5), &Peer::await));
  rows.push_back(row_against_round_trip("group/for_each",
                                        "8 tasks share 1,000 elements; each call suspends once",
                                        at_most(1.2), &Peer::for_each));
  rows.push_back(timer_row("timer/arm", "a timer is armed beside a million others", at_most(3),
                           TimerStep::arm));
  rows.push_back(cancel_row());
  rows.push_back(
      timer_row("timer/fire", "one of a million timers fires", at_most(10), TimerStep::fire));
  rows.push_back(timer_row("timer/same_slot_50000",
                           "an idle turn while 50,000 timers share the next slot", at_most(3),
                           TimerStep::idle_turn));
  rows.push_back(swing_row("pool/swing_0_1000", 0, 1'000));
  rows.push_back(swing_row("pool/swing_100_1000", 100, 1'000));
  rows.push_back(swing_row("pool/swing_400_1000", 400, 1'000));
  rows.push_back(
      pool_row("pool/serial", "stacks from the pool, tasks one at a time", our_pool_serial, 100));
  rows.push_back(after_burst_row());
  rows.push_back(call_on_row());
  rows.push_back(sampling_row());
  return rows;
}

}  // namespace

Result<std::vector<Row>> coroutine_rows(const std::vector<ProgramPeer>& programs) {
  std::vector<Row> rows = our_rows();
  for (const ProgramPeer& peer : programs) {
    const auto measure_of = [&](const std::string& row) {
      return program_measure(peer.program, {row, std::to_string(effort().count())});
    };
    if (auto added = add_program(peer, rows, measure_of); !added) return added.error();
  }
  return rows;
}

}  // namespace corolane::bench
