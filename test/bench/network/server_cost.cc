// Both ends of the measured time lie where nothing is under way: every operation is counted with
// all that it cost, and the server waits, so that the kernel's account of it is complete.
#include "test/bench/network/server_cost.h"

#include <string>
#include <utility>

namespace corolane::bench {
namespace {

// On a machine that does other things too a server may be kept from its work for long enough to
// think itself overloaded. One in so many hardly changes what the others cost.
constexpr std::uint64_t refused_share_max = 20;

struct Observation {
  LoadOutcome outcome;
  std::chrono::nanoseconds cpu_time;
  std::uint64_t allocation_count;
};

Result<Observation> observe(const Serve& serve, const Connect& connect) {
  pin_to(Core::generator);
  const auto server = ServerProcess::start(serve);
  if (!server) return server.error();
  const auto generator = connect(server->port());
  if (!generator) return generator.error();
  if (auto warm = (*generator)->run(warm_up_time); !warm) return warm.error();
  const auto cpu_time = server->cpu_time();
  const auto allocation_count = server->allocation_count();
  auto outcome = (*generator)->run(effort());
  if (!outcome) return outcome.error();
  if (outcome->op_count == 0) return Error(Code::unavailable, "the server answered nothing");
  if (outcome->refused_count * refused_share_max > outcome->op_count) {
    return Error(Code::resource_exhausted,
                 "the server refused " + std::to_string(outcome->refused_count) +
                     " calls and took " + std::to_string(outcome->op_count));
  }
  return Observation{.outcome = *outcome,
                     .cpu_time = server->cpu_time() - cpu_time,
                     .allocation_count = server->allocation_count() - allocation_count};
}

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

// `value_of` picks the value of the row.
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
