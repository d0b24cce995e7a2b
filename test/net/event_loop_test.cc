#include "net/event_loop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "coroutine/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "test/net/stream_pair.h"
#include "test/support/real_loop.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;

TEST(EventLoopTest, AWakeBeforeAWaitEndsIt) {
  EventLoop loop;
  loop.wake();
  loop.wake();
  EXPECT_TRUE(loop.wait(Deadline::never()));
}

TEST(EventLoopTest, AWakeOfAnotherThreadEndsAWait) {
  EventLoop loop;
  for (int round = 0; round < 100; ++round) {
    std::thread waker([&] { loop.wake(); });
    EXPECT_TRUE(loop.wait(Deadline::never()));
    waker.join();
  }
}

TEST(EventLoopTest, AWaitWithAPassedDeadlineOnlyLooks) {
  EventLoop loop;
  EXPECT_TRUE(loop.wait(Deadline::passed()));
  EXPECT_TRUE(loop.wait(Deadline::at(loop.now())));
}

TEST(EventLoopTest, AWaitEndsByItsDeadline) {
  EventLoop loop;
  for (const auto patience : {100us, 1000us, 2500us}) {
    const TimePoint end = loop.now() + patience;
    while (loop.now() < end) EXPECT_TRUE(loop.wait(Deadline::at(end)));
  }
  // A deadline that is nearer, or farther, or gone, replaces the one before.
  EXPECT_TRUE(loop.wait(Deadline::at(loop.now() + 1ms)));
  loop.wake();
  EXPECT_TRUE(loop.wait(Deadline::at(loop.now() + 24h)));
  EXPECT_TRUE(loop.wait(Deadline::at(loop.now() + 1ms)));
  loop.wake();
  EXPECT_TRUE(loop.wait(Deadline::never()));
}

TEST(EventLoopTest, ItsOwnHandlesAreNotCounted) {
  const EventLoop loop;
  EXPECT_EQ(loop.open_handle_count(), 0u);
}

TEST(EventLoopTest, SleepsAreNeverEarly) {
  run_on_real_loop([](RealLoop&) {
    coroutine::TaskGroup sleepers;
    for (int number = 0; number < 200; ++number) {
      EXPECT_TRUE(sleepers.spawn("sleeper", [number] {
        const TimePoint end = now() + number * 137us;
        EXPECT_TRUE(coroutine::sleep_until(Deadline::at(end)));
        EXPECT_GE(now(), end);
      }));
    }
    EXPECT_TRUE(sleepers.join(soon()));
  });
}

TEST(EventLoopTest, PostsOfFourThreadsAllRunInTheirOrder) {
  constexpr int thread_count = 4;
  constexpr int post_count = 10'000;
  run_on_real_loop([](RealLoop& real) {
    coroutine::Event done;
    int run_count = 0;
    std::vector<int> next(thread_count, 0);
    std::vector<std::thread> threads;
    threads.reserve(thread_count);
    for (std::size_t thread = 0; thread < thread_count; ++thread) {
      threads.emplace_back([&, thread] {
        for (int number = 0; number < post_count; ++number) {
          real.scheduler.post([&, thread, number] {
            EXPECT_EQ(next[thread]++, number);
            if (++run_count == thread_count * post_count) done.set();
          });
        }
      });
    }
    EXPECT_TRUE(done.wait(soon()));
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(run_count, thread_count * post_count);
  });
}

TEST(EventLoopTest, BusyTasksDoNotKeepSocketsWaiting) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    bool answered = false;
    auto busy = coroutine::spawn("busy", [&] {
      while (!answered && coroutine::yield()) {
      }
    });
    EXPECT_TRUE(send_text(*pair->client, "ping"));
    EXPECT_EQ(read_text(*pair->server).value_or("nothing"), "ping");
    answered = true;
    EXPECT_TRUE(busy.join(soon()));
  });
}

TEST(EventLoopTest, WorkThatAlwaysPostsItselfKeepsNeitherSocketsNorTimersWaiting) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    bool answered = false;
    std::function<void()> post_again = [&] {
      if (!answered) real.scheduler.post(post_again);
    };
    post_again();
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    EXPECT_TRUE(send_text(*pair->client, "ping"));
    EXPECT_EQ(read_text(*pair->server).value_or("nothing"), "ping");
    answered = true;
  });
}

TEST(EventLoopTest, AWriterThatTheTurnsEndReleasesIsNotLeftAsleep) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network, {.output_bytes_max = 0});
    ASSERT_TRUE(pair) << pair;
    // Nothing but the end of the turn itself can end this wait: no timer, no other task.
    EXPECT_TRUE(pair->client->write_all(bytes_of("x"), Deadline::never()));
    EXPECT_TRUE(pair->client->flush(Deadline::never()));
  });
}

}  // namespace
}  // namespace corolane::net
