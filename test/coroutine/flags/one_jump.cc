// SPDX-License-Identifier: MIT
// Holds values across a jump, to inspect the assembler code.
#include <immintrin.h>

#include "coroutine/stack/detail/jump.h"

double over_jump(const double* numbers, void* to) {
  const double a = numbers[0] * numbers[1];
  const double b = numbers[2] * numbers[3];
  static_cast<void>(corolane::coroutine::detail::jump(to, nullptr));
  return a + b;
}

int mask_over_jump(const int* numbers, void* to) {
  const __mmask16 mask =
      _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(numbers), _mm512_setzero_si512());
  static_cast<void>(corolane::coroutine::detail::jump(to, nullptr));
  return mask;
}
