// SPDX-License-Identifier: MIT
#include "net/uv/detail/waker.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "coroutine/base/check.h"

namespace corolane::net::detail {

Waker::Waker(uv_loop_t& loop) : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  check(descriptor_ >= 0 && uv_poll_init(&loop, &poll_, descriptor_) == 0,
        "the process has a descriptor left for wake()");
  poll_.data = this;
  uv_poll_start(&poll_, UV_READABLE, [](uv_poll_t* poll, int, int) {
    eventfd_t count = 0;
    ::eventfd_read(static_cast<Waker*>(poll->data)->descriptor_, &count);
  });
}

Waker::~Waker() { ::close(descriptor_); }

void Waker::close() { uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr); }

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
