// SPDX-License-Identifier: MIT
// Functions that do nothing but fetch memory, called from several places of a loop.
#include "coroutine/base/prefetch.h"

struct Order {
  const char* text;
};

namespace {

constexpr int lead = 8;

void fetch(const Order* const* orders, int index, int count) {
  if (index >= count) return;
  corolane::prefetch_for_write(orders[index]);
  corolane::prefetch_for_write(orders[index]->text);
}

void fetch_first(const Order* const* orders, int count) {
  for (int index = 0; index < lead; ++index) fetch(orders, index, count);
}

void fetch_ahead(const Order* const* orders, int index, int count) {
  if (index % lead == 0) fetch(orders + count, index / lead, count);
  fetch(orders, index + lead, count);
}

}  // namespace

int sum(const Order* const* orders, int count) {
  int sum = 0;
  fetch_first(orders, count);
  for (int index = 0; index < count; ++index) {
    fetch_ahead(orders, index, count);
    sum += orders[index]->text[0];
  }
  return sum;
}
