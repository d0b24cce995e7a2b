// SPDX-License-Identifier: MIT
// Reads the clock, finds the size of a batch, and takes the median over batches.
#include "tools/benchmarks/measurement.h"

#include <ctime>
#include <vector>

#include "tools/benchmarks/allocation_count.h"
#include "tools/benchmarks/statistics.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds batch_time_min = 1ms;
// Thirty thousand stacks need some passes to settle in the caches.
constexpr std::chrono::nanoseconds warm_up_time = 20ms;

std::chrono::milliseconds effort_in_force = 50ms;

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

struct TimedBatch {
  std::chrono::nanoseconds elapsed;
  std::size_t op_count;
};

// Warms up, and finds the number of operations that takes long enough to be timed.
Result<std::size_t> find_batch_size(const Batch& batch) {
  std::size_t op_count = 1;
  for (std::chrono::nanoseconds elapsed{0}; elapsed < warm_up_time;) {
    Stopwatch watch;
    const auto performed_count = batch(watch, op_count);
    if (!performed_count) return performed_count;
    elapsed += watch.elapsed();
    const bool has_more = *performed_count >= op_count;
    op_count = *performed_count;
    if (watch.elapsed() < batch_time_min && has_more) op_count *= 2;
  }
  return op_count;
}

double median_ns_per_op(const std::vector<TimedBatch>& batches) {
  std::vector<double> ns_per_op;
  for (const TimedBatch& batch : batches) {
    ns_per_op.push_back(static_cast<double>(batch.elapsed.count()) /
                        static_cast<double>(batch.op_count));
  }
  return median_of(ns_per_op);
}

}  // namespace

void set_effort(std::chrono::milliseconds time) { effort_in_force = time; }
std::chrono::milliseconds effort() { return effort_in_force; }

void Stopwatch::start() {
  start_allocation_count_ = allocation_count_of_process();
  start_time_ = cpu_time();
}

void Stopwatch::stop() {
  elapsed_ += cpu_time() - start_time_;
  allocation_count_ += allocation_count_of_process() - start_allocation_count_;
}

Result<Measurement> time_batches(const Batch& batch) {
  const auto batch_size = find_batch_size(batch);
  if (!batch_size) return batch_size.error();
  std::vector<TimedBatch> batches;
  std::chrono::nanoseconds elapsed{0};
  std::uint64_t allocation_count = 0;
  std::uint64_t total_op_count = 0;
  while (elapsed < effort_in_force) {
    Stopwatch watch;
    const auto op_count = batch(watch, *batch_size);
    if (!op_count) return op_count.error();
    batches.push_back({.elapsed = watch.elapsed(), .op_count = *op_count});
    elapsed += watch.elapsed();
    allocation_count += watch.allocation_count();
    total_op_count += *op_count;
  }
  return Measurement{.value = median_ns_per_op(batches),
                     .allocations_per_op = static_cast<double>(allocation_count) /
                                           static_cast<double>(total_op_count)};
}

}  // namespace corolane::bench
