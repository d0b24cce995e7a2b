// What the handlers of a method cost: of some of its calls, exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "coroutine/base/clock.h"
#include "coroutine/stack_meter.h"
#include "coroutine/task_meter.h"

namespace corolane::rpc {

// Sums, of the handlers that were measured.
struct MethodCost {
  std::uint64_t timed_count = 0;
  Duration run_time{};  // From the beginning to the end of the handler.
  Duration cpu{};       // Of that; the rest it waited.
  std::uint64_t suspension_count = 0;
  std::uint64_t allocation_count = 0;
  std::uint64_t allocated_bytes = 0;

  std::uint64_t stack_count = 0;         // Those whose stack was measured.
  std::size_t stack_used_bytes_max = 0;  // Of any.
  std::size_t stack_size_bytes = 0;      // The largest that they ran on.

  void add(const MethodCost& more);
  // The least size of a stack that has room for half as much again as any has used; 0 before one
  // was measured.
  std::size_t suggested_stack_size_bytes() const;
};

// Picks them. One for each method and thread.
class MethodMeter {
 public:
  // Each of the first calls of a method, and then one in so many; in turn its stack and all else,
  // since a stack that is being measured takes time.
  static constexpr std::uint32_t first_count = 16;
  static constexpr std::uint32_t interval = 2'039;

  // Runs the handler. Suspends as that does.
  template <typename F>
  auto run(F&& handler) {
    if (--left_ > 0) [[likely]] {
      return handler();
    }
    return run_measured(handler);
  }

  const MethodCost& cost() const { return cost_; }

 private:
  // On the stack of the handler's task.
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
