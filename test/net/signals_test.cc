#include "net/signals.h"

#include <gtest/gtest.h>

#include <csignal>

#include "coroutine/task.h"
#include "test/support/matchers.h"
#include "test/support/real_loop.h"

namespace corolane::net {
namespace {

using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;

TEST(SignalWatcherTest, ATaskWaitsForASignal) {
  run_on_real_loop([](RealLoop& real) {
    SignalWatcher watcher(real.loop, {SIGUSR1, SIGUSR2});
    EXPECT_EQ(real.loop.open_handle_count(), 2u);
    auto waiter = coroutine::spawn("waiter", [&] { return watcher.wait(soon()); });
    EXPECT_TRUE(coroutine::yield());
    std::raise(SIGUSR2);
    EXPECT_EQ(waiter.join(soon()).value_or(0), SIGUSR2);
  });
}

TEST(SignalWatcherTest, ASignalThatCameBeforeIsTakenOnce) {
  run_on_real_loop([](RealLoop& real) {
    SignalWatcher watcher(real.loop, {SIGUSR1});
    std::raise(SIGUSR1);
    std::raise(SIGUSR1);
    EXPECT_EQ(watcher.wait(soon()).value_or(0), SIGUSR1);
    EXPECT_THAT(watcher.wait(Deadline::passed()), fails_with(Code::deadline_exceeded));
  });
}

TEST(SignalWatcherTest, AWaitEndsByDeadlineAndByCancellation) {
  run_on_real_loop([](RealLoop& real) {
    SignalWatcher watcher(real.loop, {SIGUSR1});
    EXPECT_THAT(watcher.wait(Deadline::after(std::chrono::milliseconds(1))),
                fails_with(Code::deadline_exceeded));
    auto waiter = coroutine::spawn("waiter", [&] { return watcher.wait(soon()); });
    EXPECT_TRUE(coroutine::yield());
    waiter.cancel();
    EXPECT_THAT(waiter.join(soon()), fails_with(Code::cancelled));
  });
}

TEST(SignalWatcherTest, EveryWatcherOfASignalHearsIt) {
  run_on_real_loop([](RealLoop& real) {
    SignalWatcher first(real.loop, {SIGUSR1});
    SignalWatcher second(real.loop, {SIGUSR1});
    std::raise(SIGUSR1);
    EXPECT_EQ(first.wait(soon()).value_or(0), SIGUSR1);
    EXPECT_EQ(second.wait(soon()).value_or(0), SIGUSR1);
  });
}

}  // namespace
}  // namespace corolane::net
