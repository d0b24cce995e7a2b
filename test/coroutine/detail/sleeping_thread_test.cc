// SPDX-License-Identifier: MIT
// On the real clock: the threads are real.
#include "coroutine/detail/sleeping_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "test/coroutine/emulation.h"

namespace corolane::coroutine::detail {
namespace {

using namespace std::chrono_literals;
using testing::StartsWith;

// A thread that does `work` after it has told its id.
template <typename F>
class Worker {
 public:
  explicit Worker(F work)
      : thread_([this, work] {
          id_ = ::gettid();
          work();
        }) {
    while (id_ == 0) std::this_thread::yield();
  }

  pid_t id() const { return id_; }

 private:
  std::atomic<pid_t> id_ = 0;
  std::jthread thread_;
};

// Looks until the thread sleeps; nothing where the kernel does not tell.
std::optional<SleepingThread> look_until_asleep(pid_t thread) {
  std::optional<SleepingThread> asleep;
  for (const auto end = std::chrono::steady_clock::now() + 10s;
       !asleep && std::chrono::steady_clock::now() < end;) {
    asleep = look_at_thread(thread);
    std::this_thread::yield();
  }
  return asleep;
}

TEST(SleepingThreadTest, AThreadThatComputesDoesNotSleep) {
  std::atomic<bool> is_over = false;
  const Worker worker([&] {
    while (!is_over) {
    }
  });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(look_at_thread(worker.id()), std::nullopt);
  is_over = true;
}

TEST(SleepingThreadTest, ASystemCallIsNamed) {
  std::array<int, 2> ends;
  ASSERT_EQ(::pipe(ends.data()), 0);
  {
    const Worker worker([&] {
      pollfd end{.fd = ends[0], .events = POLLIN, .revents = 0};
      ::poll(&end, 1, -1);
    });
    if (const auto asleep = look_until_asleep(worker.id())) {
      EXPECT_THAT(to_text(*asleep), testing::AnyOf(StartsWith("poll"), StartsWith("ppoll")));
      EXPECT_NE(asleep->instruction, 0u);
      EXPECT_NE(asleep->stack_pointer, 0u);
    } else if (!test::is_emulated()) {
      ADD_FAILURE() << "the kernel does not tell of a thread that sleeps";
    }
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(SleepingThreadTest, AThreadThatDoesNotExistDoesNotSleep) {
  EXPECT_EQ(look_at_thread(999'999'999), std::nullopt);
}

TEST(SleepingThreadTest, TextNamesCallAndWaitChannel) {
  EXPECT_EQ(to_text({.system_call = -1}), "the kernel, outside of a system call");
  EXPECT_EQ(to_text({.system_call = 99'999}), "system call 99999");
  EXPECT_EQ(to_text({.system_call = 99'999, .wait_channel = "do_wait"}),
            "system call 99999 (do_wait)");
}

}  // namespace
}  // namespace corolane::coroutine::detail
