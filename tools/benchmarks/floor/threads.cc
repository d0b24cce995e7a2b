// SPDX-License-Identifier: MIT
#include "tools/benchmarks/floor/threads.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "coroutine/base/check.h"
#include "tools/benchmarks/process.h"

namespace corolane::bench {
namespace {

constexpr std::uint64_t last_question = 2;

class EventFd {
 public:
  EventFd() : descriptor_(::eventfd(0, EFD_CLOEXEC)) {
    check(descriptor_ >= 0, "there is a descriptor left for an eventfd");
  }
  ~EventFd() { ::close(descriptor_); }
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;

  void write(std::uint64_t value) const { ::eventfd_write(descriptor_, value); }
  std::uint64_t read() const {
    eventfd_t value = 0;
    ::eventfd_read(descriptor_, &value);
    return value;
  }

 private:
  const int descriptor_;
};

// Holds a value other than 0 until it is read.
class Cell {
 public:
  void write(std::uint64_t value) { value_.store(value, std::memory_order_release); }
  std::uint64_t read() {
    std::uint64_t value = 0;
    while ((value = value_.load(std::memory_order_acquire)) == 0) {
    }
    value_.store(0, std::memory_order_relaxed);
    return value;
  }

 private:
  alignas(64) std::atomic<std::uint64_t> value_ = 0;
};

template <typename Way>
Result<Measurement> time_round_trips() {
  Way there;
  Way back;
  const std::jthread partner([&] {
    pin_to(Core::generator);
    while (there.read() != last_question) back.write(1);
  });
  auto measured = time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    watch.start();
    for (std::size_t index = 0; index < op_count; ++index) {
      there.write(1);
      back.read();
    }
    watch.stop();
    return op_count;
  });
  there.write(last_question);
  return measured;
}

}  // namespace

Result<Measurement> floor_eventfd_pair() { return time_round_trips<EventFd>(); }

Result<Measurement> floor_atomic_pair() { return time_round_trips<Cell>(); }

}  // namespace corolane::bench
