// Two doubles that are needed before a jump and after it, for a look at the assembler.
#include "coroutine/detail/jump.h"

double over_jump(const double* numbers, void* to) {
  const double a = numbers[0] * numbers[1];
  const double b = numbers[2] * numbers[3];
  static_cast<void>(corolane::coroutine::detail::jump(to, nullptr));
  return a + b;
}
