// SPDX-License-Identifier: MIT
#include "net/uv/detail/waker.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "coroutine/base/check.h"

namespace corolane::net::detail {

Waker::Waker() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  check(descriptor_ >= 0, "the process has a descriptor left for wake()");
}

Waker::~Waker() { ::close(descriptor_); }

void Waker::take() {
  eventfd_t count = 0;
  ::eventfd_read(descriptor_, &count);
}

// The word is written even when it stays the same: what the caller did before is visible to a loop
// that reads it.
void Waker::wake() {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  std::uint64_t next = seen;
  do {
    next = with_state(seen, (seen & state_mask) >= asleep ? roused : woken);
  } while (!word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  if ((next & state_mask) == woken) return;
  ::eventfd_write(descriptor_, 1);
  word_.compare_exchange_strong(next, with_state(next, woken), std::memory_order_acq_rel);
}

bool Waker::fall_asleep() {
  std::uint64_t seen = with_state(word_.load(std::memory_order_relaxed), awake);
  if (word_.compare_exchange_strong(seen, with_state(seen + one_sleep, asleep),
                                    std::memory_order_acq_rel)) {
    return true;
  }
  get_up();
  return false;
}

void Waker::get_up() {
  // No other thread changes the number of sleeps.
  const std::uint64_t word = word_.load(std::memory_order_relaxed);
  word_.exchange(with_state(word, awake), std::memory_order_acq_rel);
}

}  // namespace corolane::net::detail
