// SPDX-License-Identifier: MIT
// Uses only base, and links nothing else.
#include <cstdio>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"

int main() {
  const corolane::Result<int> one = 1;
  std::printf("%d\n", one.value_or(0));
}
