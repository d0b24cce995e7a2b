// SPDX-License-Identifier: MIT
#include "net/uv/event_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "net/uv/detail/event_loop_impl.h"
#include "test/fixtures/real_loop.h"
#include "test/net/stream_pair.h"

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

TEST(EventLoopTest, AWaitWithAPassedDeadlineOnlyPolls) {
  EventLoop loop;
  EXPECT_TRUE(loop.wait(Deadline::passed()));
  EXPECT_TRUE(loop.wait(Deadline::at(loop.now())));
}

TEST(EventLoopTest, AWaitEndsAtItsDeadline) {
  EventLoop loop;
  for (const auto patience : {100us, 1000us, 2500us}) {
    const TimePoint end = loop.now() + patience;
    while (loop.now() < end) EXPECT_TRUE(loop.wait(Deadline::at(end)));
  }
  // A nearer, a later or a passed deadline replaces the one before.
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

TEST(EventLoopTest, BusyTasksDoNotStarveSockets) {
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

// Counts the pieces it received, and for each spawns a task that counts it as handled.
class CountingSink final : public ReadSink {
 public:
  struct Counts {
    std::size_t heard = 0;
    std::size_t handled = 0;
    std::size_t unhandled_max = 0;
    coroutine::TaskGroup handlers;
    std::function<void()> when_handled;
  };

  explicit CountingSink(Counts& counts) : counts_(counts) {}

  void on_bytes(std::span<const std::byte> bytes) override {
    for (std::size_t index = 0; index < bytes.size(); index += 128) {
      ++counts_.heard;
      counts_.unhandled_max = std::max(counts_.unhandled_max, counts_.heard - counts_.handled);
      const auto spawned = counts_.handlers.spawn("handler", [&counts = counts_] {
        ++counts.handled;
        if (counts.when_handled) counts.when_handled();
      });
      EXPECT_TRUE(spawned);
    }
  }
  void on_end(const Error&) override {}

 private:
  Counts& counts_;
};

TEST(EventLoopTest, TasksRunBetweenTheHandlersOfOnePoll) {
  run_on_real_loop([](RealLoop& real) {
    constexpr std::size_t connection_count = 300;
    CountingSink::Counts counts;
    CountingSink sink(counts);
    std::vector<StreamPair> pairs;
    for (std::size_t index = 0; index < connection_count; ++index) {
      auto pair = make_stream_pair(real.network);
      ASSERT_TRUE(pair) << pair;
      pair->server->set_read_sink(sink);
      pairs.push_back(std::move(*pair));
    }
    see_arrivals(real.network);  // From now on all of them are polled.
    for (StreamPair& pair : pairs) EXPECT_TRUE(pair.client->try_write(bytes_of("hello")));
    see_arrivals(real.network);
    EXPECT_EQ(counts.handled, connection_count);
    // How many tasks run between two batches of handlers depends on how long they take.
    EXPECT_LT(counts.unhandled_max, connection_count);
    EXPECT_TRUE(counts.handlers.join(Deadline::never()));
  });
}

TEST(EventLoopTest, TasksRunBetweenTheSharesOfOneRead) {
  run_on_real_loop([](RealLoop& real) {
    CountingSink::Counts counts;
    CountingSink sink(counts);
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    pair->server->set_read_sink(sink);
    see_arrivals(real.network);
    const std::string large(32 * 1024, 'x');  // Four shares of 64 handlers each.
    EXPECT_TRUE(pair->client->try_write(bytes_of(large)));
    while (counts.handled < large.size() / 128) see_arrivals(real.network);
    EXPECT_LT(counts.unhandled_max, large.size() / 128);
    EXPECT_TRUE(counts.handlers.join(Deadline::never()));
  });
}

TEST(EventLoopTest, ATaskMayDestroyAStreamBetweenTheSharesOfARead) {
  run_on_real_loop([](RealLoop& real) {
    CountingSink::Counts counts;
    CountingSink sink(counts);
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    counts.when_handled = [&] { pair->server.reset(); };
    pair->server->set_read_sink(sink);
    see_arrivals(real.network);
    EXPECT_TRUE(pair->client->try_write(bytes_of(std::string(32 * 1024, 'x'))));
    while (pair->server != nullptr) see_arrivals(real.network);
    EXPECT_TRUE(counts.handlers.join(Deadline::never()));
    EXPECT_EQ(counts.heard, 64u);
  });
}

TEST(EventLoopTest, WorkThatAlwaysPostsItselfStarvesNeitherSocketsNorTimers) {
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

// libuv keeps watching a descriptor for the kernel after it was told to stop, until it runs.
TEST(EventLoopTest, AConnectionThatNoTaskAcceptsKeepsNoLoopAwake) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen({"127.0.0.1", 0});
    ASSERT_TRUE(listener) << listener;
    EXPECT_FALSE((*listener)->accept(Deadline::after(1ms)));
    const auto connection = real.network.connect((*listener)->local_endpoint(), soon());
    ASSERT_TRUE(connection) << connection;
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    const std::uint64_t turns_before = real.loop.impl().turn_count;
    EXPECT_TRUE(coroutine::sleep_for(20ms));
    EXPECT_LT(real.loop.impl().turn_count - turns_before, 40U);
  });
}

TEST(EventLoopTest, AClosedSocketIsForgottenByLibuv) {
  run_on_real_loop([](RealLoop& real) {
    for (int round = 0; round < 3; ++round) {
      const auto pair = make_stream_pair(real.network);
      ASSERT_TRUE(pair) << pair;
    }
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    EXPECT_FALSE(real.loop.impl().uv_is_due());
  });
}

TEST(EventLoopTest, AWriterReleasedByTheEndOfATurnIsNotLeftAsleep) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network, {.output_bytes_max = 0});
    ASSERT_TRUE(pair) << pair;
    // Only the end of the turn itself can end this wait: there is no timer and no other task.
    EXPECT_TRUE(pair->client->write_all(bytes_of("x"), Deadline::never()));
    EXPECT_TRUE(pair->client->flush(Deadline::never()));
  });
}

}  // namespace
}  // namespace corolane::net
