// SPDX-License-Identifier: MIT
// The measured time begins and ends with nothing in flight: every operation is counted with its
// full cost, and the server waits, so that the kernel's account of its CPU time is complete.
#include "tools/benchmarks/network/server_cost.h"

#include <memory>
#include <string>
#include <utility>

namespace corolane::bench {
namespace {

// On a busy machine a server may be kept off its core long enough to think itself overloaded. One
// refusal in this many calls hardly changes the cost of the others.
constexpr std::uint64_t refused_share_max = 20;

// The time of load for each of two servers in turn: much shorter than changes of a machine's pace,
// and long enough that its start and end do not matter.
constexpr std::chrono::milliseconds turn_time{50};

struct Observation {
  LoadOutcome outcome;
  std::chrono::nanoseconds cpu_time;
  std::uint64_t allocation_count;
};

// A server and its generator, both warm.
struct Pair {
  ServerProcess server;
  std::unique_ptr<Generator> generator;

  static Result<Pair> start(const Serve& serve, const Connect& connect) {
    pin_to(Core::generator);
    auto server = ServerProcess::start(serve);
    if (!server) return server.error();
    auto generator = connect(server->port());
    if (!generator) return generator.error();
    if (auto warm = (*generator)->run(warm_up_time); !warm) return warm.error();
    return Pair{.server = std::move(*server), .generator = std::move(*generator)};
  }

  Result<Observation> observe(std::chrono::milliseconds time) {
    const auto cpu_time = server.cpu_time();
    const auto allocation_count = server.allocation_count();
    auto outcome = generator->run(time);
    if (!outcome) return outcome.error();
    if (outcome->op_count == 0) return Error(Code::unavailable, "the server answered nothing");
    if (outcome->refused_count * refused_share_max > outcome->op_count) {
      return Error(Code::resource_exhausted,
                   "the server refused " + std::to_string(outcome->refused_count) +
                       " calls and answered " + std::to_string(outcome->op_count));
    }
    return Observation{.outcome = *outcome,
                       .cpu_time = server.cpu_time() - cpu_time,
                       .allocation_count = server.allocation_count() - allocation_count};
  }
};

Result<Observation> observe(const Serve& serve, const Connect& connect) {
  auto pair = Pair::start(serve, connect);
  if (!pair) return pair.error();
  return pair->observe(effort());
}

// The sum over all turns, so that rare events count, too.
struct Sum {
  double cpu_ns = 0;
  double op_count = 0;

  void add(const Observation& observed) {
    cpu_ns += static_cast<double>(observed.cpu_time.count());
    op_count += static_cast<double>(observed.outcome.op_count);
  }
};

double microseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double per_second(const LoadOutcome& outcome) {
  return static_cast<double>(outcome.op_count) /
         std::chrono::duration<double>(outcome.elapsed).count();
}

double per_op(double sum, const Observation& observed) {
  return sum / static_cast<double>(observed.outcome.op_count);
}

// `value_of` extracts the value of the row.
template <typename F>
Measure measure_of(Serve serve, Connect connect, F value_of) {
  return [=]() -> Result<Measurement> {
    const auto observed = observe(serve, connect);
    if (!observed) return observed.error();
    return Measurement{
        .value = value_of(*observed),
        .allocations_per_op = per_op(static_cast<double>(observed->allocation_count), *observed),
        .traffic = Traffic{.ops_per_second = per_second(observed->outcome),
                           .p50_us = microseconds(observed->outcome.p50),
                           .p99_us = microseconds(observed->outcome.p99)}};
  };
}

}  // namespace

Measure server_cost(Serve serve, Connect connect) {
  return measure_of(std::move(serve), std::move(connect), [](const Observation& observed) {
    return per_op(static_cast<double>(observed.cpu_time.count()), observed);
  });
}

Measure relative_server_cost(Serve serve, Serve other, Connect connect) {
  return [=]() -> Result<Measurement> {
    auto first = Pair::start(serve, connect);
    if (!first) return first.error();
    auto second = Pair::start(other, connect);
    if (!second) return second.error();
    Sum ours;
    Sum theirs;
    for (auto left = effort(); left > turn_time; left -= turn_time) {
      for (const auto& [pair, sum] : {std::pair(&*first, &ours), std::pair(&*second, &theirs)}) {
        const auto observed = pair->observe(turn_time);
        if (!observed) return observed.error();
        sum->add(*observed);
      }
    }
    return Measurement{.value =
                           100 * (ours.cpu_ns / ours.op_count) / (theirs.cpu_ns / theirs.op_count)};
  };
}

Measure throughput(Serve serve, Connect connect) {
  return measure_of(std::move(serve), std::move(connect),
                    [](const Observation& observed) { return per_second(observed.outcome); });
}

Measure server_allocations(Serve serve, Connect connect) {
  return measure_of(std::move(serve), std::move(connect), [](const Observation& observed) {
    return per_op(static_cast<double>(observed.allocation_count), observed);
  });
}

}  // namespace corolane::bench
