// SPDX-License-Identifier: MIT
// Ends the sleep of a loop from any thread: a word that says whether it sleeps, and an eventfd.
//
// A loop that is awake notices a wake() without a system call, and a loop whose eventfd has been
// written needs no second one. A thread that is preempted inside of wake() delays no other: until
// the eventfd is written, everyone who wakes the loop writes it. (uv_async_send() leaves that to
// the first caller.)
#pragma once

#include <atomic>
#include <cstdint>

namespace corolane::net::detail {

class Waker {
 public:
  Waker();
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  // Readable once a sleep is ended; take() makes it unreadable again.
  int descriptor() const { return descriptor_; }
  void take();

  // Callable from any thread.
  void wake();

  // By the loop's thread, before it polls. False when a wake() came first: the loop must not wait
  // then, and is awake.
  bool fall_asleep();
  // By the loop's thread, once it has waited.
  void get_up();

 private:
  enum State : std::uint64_t {
    awake,
    woken,   // The loop will look, or the eventfd is written.
    asleep,  // The loop waits, or is about to.
    roused,  // It waits, and someone is about to write the eventfd.
  };
  static constexpr std::uint64_t state_mask = 3;
  static constexpr std::uint64_t one_sleep = state_mask + 1;

  static std::uint64_t with_state(std::uint64_t word, State state) {
    return (word & ~state_mask) | state;
  }

  const int descriptor_;
  // A State, and above it the number of sleeps, so that a thread that was preempted in one sleep
  // changes nothing in the next.
  std::atomic<std::uint64_t> word_ = awake;
};

}  // namespace corolane::net::detail
