// SPDX-License-Identifier: MIT
// Holds values in registers across a switch to a flow that overwrites these registers. Prints the
// lost values, and fails then.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <utility>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "coroutine/scheduler.h"
#include "coroutine/stack/detail/jump.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"

namespace {

using namespace corolane::coroutine;

// Two flows that jump to each other, with main() below them.
struct Flow {
  alignas(64) std::array<std::byte, 64 * 1024> stack = {};
  void* frame = nullptr;
  int failure_count = 0;
};
std::array<Flow, 2> flows;
std::size_t running = 0;
void* main_frame = nullptr;

[[gnu::always_inline]] inline void jump_to(void* to, void*& from) {
  const detail::Transfer transfer = detail::jump(to, &from);
  *static_cast<void**>(transfer.data) = transfer.left;
}

[[gnu::always_inline]] inline void let_the_other_run() {
  const std::size_t self = std::exchange(running, 1 - running);
  jump_to(flows[running].frame, flows[self].frame);
}

template <std::size_t... i>
[[gnu::noinline]] double sum_over_jump(const double* numbers, std::index_sequence<i...>) {
  const std::array<double, sizeof...(i)> squares = {numbers[i] * numbers[i]...};
  let_the_other_run();
  return (squares[i] + ...);
}

[[gnu::noinline]] long double product_over_jump(const long double* numbers) {
  const long double product = numbers[0] * numbers[1];
  let_the_other_run();
  return product;
}

#if defined(__AVX512F__)
[[gnu::noinline]] int mask_over_jump(const int* numbers, int wanted) {
  const __mmask16 mask =
      _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(numbers), _mm512_set1_epi32(wanted));
  let_the_other_run();
  return _mm512_mask_reduce_add_epi32(mask, _mm512_set1_epi32(1));
}
#endif

void expect(bool kept, const char* what) {
  if (kept) return;
  std::printf("flow %zu has lost %s\n", running, what);
  ++flows[running].failure_count;
}

void keep_everything() {
  constexpr std::size_t count = 24;
  std::array<double, count> numbers = {};
  numbers.fill(static_cast<double>(running) + 2);
  const double square = numbers[0] * numbers[0];
  expect(sum_over_jump(numbers.data(), std::make_index_sequence<2>()) == 2 * square, "two doubles");
  expect(sum_over_jump(numbers.data(), std::make_index_sequence<count>()) == count * square,
         "24 doubles");
  const std::array<long double, 2> factors = {static_cast<long double>(running) + 3, 5};
  expect(product_over_jump(factors.data()) == factors[0] * factors[1], "a long double");
#if defined(__AVX512F__)
  std::array<int, 16> marks = {};
  for (std::size_t i = 0; i < 4 + running; ++i) marks[i] = 7;
  expect(mask_over_jump(marks.data(), 7) == static_cast<int>(4 + running), "a mask");
#endif
}

void enter(detail::Transfer transfer) {
  *static_cast<void**>(transfer.data) = transfer.left;
  keep_everything();
  // The first flow finishes first, and waits here for the other.
  if (running == 0) let_the_other_run();
  jump_to(main_frame, flows[running].frame);
}

// The same over a whole yield(), with everything at once.
template <std::size_t... i>
[[gnu::noinline]] void keep_over_yield(const double* numbers, const int* marks, int error_number,
                                       std::index_sequence<i...>) {
  const std::array<double, sizeof...(i)> squares = {numbers[i] * numbers[i]...};
#if defined(__AVX512F__)
  const __mmask16 mask =
      _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(marks), _mm512_set1_epi32(error_number));
#endif
  errno = error_number;
  if (!yield()) return;
  expect(errno == error_number, "errno");
  expect((squares[i] + ...) == sizeof...(i) * numbers[0] * numbers[0], "20 doubles of a task");
#if defined(__AVX512F__)
  expect(_mm512_mask_reduce_add_epi32(mask, _mm512_set1_epi32(1)) == marks[15], "a mask of a task");
#else
  static_cast<void>(marks);
#endif
}

void keep_everything_over_yield(int error_number) {
  constexpr std::size_t count = 20;
  std::array<double, count> numbers = {};
  numbers.fill(error_number);
  // Each of them says how many marks it has.
  std::array<int, 16> marks = {};
  std::fill_n(marks.end() - error_number, error_number, error_number);
  for (int turn = 0; turn < 3; ++turn) {
    keep_over_yield(numbers.data(), marks.data(), error_number, std::make_index_sequence<count>());
  }
}

}  // namespace

int main() {
  for (Flow& flow : flows) {
    flow.frame =
        detail::make_frame(flow.stack.data() + flow.stack.size(), flow.stack.size(), &enter);
  }
  jump_to(flows[0].frame, main_frame);

  VirtualTime time;
  Scheduler scheduler(time);
  const auto ran = scheduler.run("main", [] {
    auto left = spawn("left", [] { keep_everything_over_yield(ENOENT); });
    auto right = spawn("right", [] { keep_everything_over_yield(EINTR); });
    expect(left.join(corolane::Deadline::never()) && right.join(corolane::Deadline::never()),
           "a task");
  });
  return ran && flows[0].failure_count + flows[1].failure_count == 0 ? 0 : 1;
}
