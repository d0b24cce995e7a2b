// SPDX-License-Identifier: MIT
// Children exchange lines, end in many ways, and never outlive their parents.
#include "tools/benchmarks/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "coroutine/testing/matchers.h"

namespace corolane::bench {
namespace {

using test::fails_with;

int print(const char* text, int status = EXIT_SUCCESS) {
  std::fputs(text, stdout);
  return status;
}

// Echoes each line.
int answer_lines() {
  for (std::string line; std::getline(std::cin, line);) std::cout << line << std::endl;
  return EXIT_SUCCESS;
}

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

TEST(ProcessTest, LinesGoBothWays) {
  auto process = Process::start(answer_lines);
  ASSERT_TRUE(process) << process;
  for (const char* const line : {"one", "", "two words"}) {
    ASSERT_TRUE(process->write_line(line));
    EXPECT_EQ(process->read_line(), Result<std::string>(line));
  }
  EXPECT_EQ(process->finish(), Result<std::string>(""));
}

TEST(ProcessTest, LinesThatArriveTogetherAreReadOneByOne) {
  auto process = Process::start([] { return print("one\ntwo\nrest"); });
  ASSERT_TRUE(process) << process;
  EXPECT_EQ(process->read_line(), Result<std::string>("one"));
  EXPECT_EQ(process->read_line(), Result<std::string>("two"));
  EXPECT_EQ(process->finish(), Result<std::string>("rest"));
}

TEST(ProcessTest, AnEndBeforeTheLineReportsTheLastOutput) {
  auto process = Process::start([] { return print("no such port\n", EXIT_FAILURE); });
  ASSERT_TRUE(process) << process;
  EXPECT_EQ(process->read_line(), Result<std::string>("no such port"));
  const auto line = process->read_line();
  ASSERT_THAT(line, fails_with(Code::unavailable));
  EXPECT_EQ(line.error().message(), "ended with status 1");
  EXPECT_THAT(process->read_line(), fails_with(Code::unavailable));
}

TEST(ProcessTest, AWriteToAnEndedProcessIsAnError) {
  auto process = Process::start([] { return EXIT_SUCCESS; });
  ASSERT_TRUE(process) << process;
  ASSERT_TRUE(process->finish());
  EXPECT_THAT(process->write_line("anybody?"), fails_with(Code::unavailable));
}

TEST(ProcessTest, AProcessDiesWithItsHandle) {
  auto process = Process::start([]() -> int { sleep_for_ever(); });
  ASSERT_TRUE(process) << process;
  const pid_t id = process->id();
  {
    const Process ended = std::move(*process);
  }
  EXPECT_EQ(kill(id, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(ProcessTest, AProcessDiesWithItsParent) {
  // A child starts a grandchild, prints its id and is killed: only the kernel is left to end the
  // grandchild.
  auto parent = Process::start([]() -> int {
    const auto child = Process::start([]() -> int { sleep_for_ever(); });
    std::printf("%d\n", child ? child->id() : 0);
    std::fflush(stdout);
    sleep_for_ever();
  });
  ASSERT_TRUE(parent) << parent;
  const auto line = parent->read_line();
  ASSERT_TRUE(line) << line;
  const pid_t grandchild = std::stoi(*line);
  ASSERT_GT(grandchild, 0);
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, grandchild, 0));
  ASSERT_GE(handle, 0);
  kill(parent->id(), SIGKILL);
  pollfd end{.fd = handle, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&end, 1, 10'000), 1);
  close(handle);
}

TEST(ProcessTest, APinnedProcessHasOneCoreAndItsChildrenMayHaveAnother) {
  auto process = Process::start([] {
    pin_to(Core::measured);
    cpu_set_t cores;
    sched_getaffinity(0, sizeof cores, &cores);
    const bool one = CPU_COUNT(&cores) == 1;
    pin_to(Core::generator);
    cpu_set_t others;
    sched_getaffinity(0, sizeof others, &others);
    const bool another = sysconf(_SC_NPROCESSORS_ONLN) < 2 || !CPU_EQUAL(&cores, &others);
    return one && CPU_COUNT(&others) == 1 && another ? EXIT_SUCCESS : EXIT_FAILURE;
  });
  ASSERT_TRUE(process) << process;
  EXPECT_EQ(process->finish(), Result<std::string>(""));
}

}  // namespace
}  // namespace corolane::bench
