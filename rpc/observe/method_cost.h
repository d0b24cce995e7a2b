// SPDX-License-Identifier: MIT
// The cost of a method's handlers, measured exactly for a sample of its calls.
//
//   for (const auto& method : server.statistics().methods) {
//     std::cout << method.full_name << ": " << method.cost.suggested_stack_size_bytes() << '\n';
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "coroutine/base/clock.h"
#include "coroutine/stack_meter.h"
#include "coroutine/task_meter.h"

namespace corolane::rpc {

// Sums over the handlers that were measured.
struct MethodCost {
  std::uint64_t timed_count = 0;
  Duration run_time{};  // From the beginning to the end of the handler.
  Duration cpu{};       // The part of it on the CPU; the rest is waiting.
  std::uint64_t suspension_count = 0;
  std::uint64_t allocation_count = 0;
  std::uint64_t allocated_bytes = 0;

  std::uint64_t stack_count = 0;         // Handlers whose stack was measured.
  std::size_t stack_used_bytes_max = 0;  // The maximum.
  std::size_t stack_size_bytes = 0;      // The largest stack that they ran on.

  void add(const MethodCost& more);
  // The smallest stack size with room for 1.5 times the largest use; 0 before the first
  // measurement.
  std::size_t suggested_stack_size_bytes() const;
};

// Picks the calls to measure. There is one for each method and thread.
class MethodMeter {
 public:
  // Measures each of the first calls of a method, then one per interval. It alternates between the
  // stack and everything else, since measuring a stack takes time.
  static constexpr std::uint32_t first_count = 16;
  static constexpr std::uint32_t interval = 2'039;

  // Runs the handler. Suspends as the handler does.
  template <typename F>
  auto run(F&& handler) {
    if (--left_ > 0) [[likely]] {
      return handler();
    }
    return run_measured(handler);
  }

  const MethodCost& cost() const { return cost_; }

 private:
  // Lives on the stack of the handler's task.
  class Sample {
   public:
    explicit Sample(MethodMeter& meter);
    ~Sample();
    Sample(const Sample&) = delete;
    Sample& operator=(const Sample&) = delete;

   private:
    MethodMeter& meter_;
    TimePoint begun_at_;
    std::optional<coroutine::StackMeter> stack_;
    std::optional<coroutine::TaskMeter> time_;
  };

  template <typename F>
  [[gnu::noinline]] auto run_measured(F& handler) {
    const Sample sample(*this);
    return handler();
  }

  std::uint32_t left_ = 1;
  std::uint32_t picked_count_ = 0;
  MethodCost cost_;
};

}  // namespace corolane::rpc
