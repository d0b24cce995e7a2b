// SPDX-License-Identifier: MIT
// Each fault of the proxy as both ends see it.
#include "net/testing/chaos_proxy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "net/testing/network.h"
#include "test/fixtures/heard.h"
#include "test/fixtures/real_loop.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using net::bytes_of;
using Kind = ChaosEvent::Kind;

constexpr auto to_target = ChaosDirection::to_target;
constexpr auto to_client = ChaosDirection::to_client;
// From a client to the proxy, and from the proxy to the target.
constexpr Duration latency = 2ms;

std::string text_of_length(std::size_t length) {
  std::string text;
  for (std::size_t index = 0; index < length; ++index) {
    text.push_back(static_cast<char>('!' + index * index % 89));
  }
  return text;
}

class ChaosProxyTest : public testing::Test {
 protected:
  // A connection through the proxy.
  struct Ends {
    std::unique_ptr<net::Stream> client;
    std::unique_ptr<net::Stream> target;
  };

  void start(const ChaosPlan& plan, std::uint64_t seed = 1) {
    auto listener = network_.listen({"server", 1});
    ASSERT_TRUE(listener) << listener;
    listener_ = std::move(*listener);
    proxy_ = std::make_unique<ChaosProxy>(
        network_,
        ChaosProxy::Options{.target = {"server", 1},
                            .seed = seed,
                            .plan = plan,
                            .break_off = [this](net::Stream& stream) { network_.reset(stream); }});
    const auto endpoint = proxy_->listen({"proxy", 2});
    ASSERT_TRUE(endpoint) << endpoint;
  }

  std::unique_ptr<net::Stream> connect(net::StreamOptions options = {}) {
    auto client = network_.connect({"proxy", 2}, Deadline::after(1s), options);
    EXPECT_TRUE(client) << client;
    return client ? std::move(*client) : nullptr;
  }

  Ends open(net::StreamOptions options = {}) {
    Ends ends{.client = connect(options), .target = nullptr};
    auto target = listener_->accept(Deadline::after(1h));
    EXPECT_TRUE(target) << target;
    if (target) ends.target = std::move(*target);
    return ends;
  }

  std::uint64_t count(Kind kind) const { return proxy_->trace().count(kind); }

  sim::SimulatedNetwork network_;
  std::unique_ptr<net::Listener> listener_;
  std::unique_ptr<ChaosProxy> proxy_;
};

TEST_F(ChaosProxyTest, WithoutAPlanItPassesEverythingUnchanged) {
  start({});
  const Ends ends = open();
  const TimePoint begin = now();
  ASSERT_TRUE(ends.client->try_write(bytes_of("question")));
  ends.client->finish_writing();
  const Heard question = listen_to(*ends.target);
  EXPECT_EQ(question.text, "question");
  EXPECT_TRUE(question.end) << question.end;
  EXPECT_EQ(now() - begin, latency);

  ASSERT_TRUE(ends.target->try_write(bytes_of("answer")));
  ends.target->close();
  const Heard answer = listen_to(*ends.client);
  EXPECT_EQ(answer.text, "answer");
  EXPECT_TRUE(answer.end) << answer.end;
  ASSERT_TRUE(coroutine::yield());
  EXPECT_TRUE(proxy_->connections().empty());
  EXPECT_EQ(proxy_->trace().events().size(), 5u) << proxy_->trace().to_text();
}

TEST_F(ChaosProxyTest, ABrokenEndBreaksTheOther) {
  start({});
  const Ends ends = open();
  ASSERT_TRUE(ends.client->try_write(bytes_of("last words")));
  network_.reset(*ends.client);
  const Heard heard = listen_to(*ends.target);
  EXPECT_EQ(heard.text, "last words");
  EXPECT_THAT(heard.end, fails_with(Code::unavailable));
  EXPECT_EQ(count(Kind::broken), 1u);
}

TEST_F(ChaosProxyTest, EachDirectionHasItsOwnDelay) {
  start({.to_target = {.delay = 5ms}, .to_client = {.delay = 40ms}});
  const Ends ends = open();
  const TimePoint begin = now();
  ASSERT_TRUE(ends.client->try_write(bytes_of("x")));
  ASSERT_TRUE(ends.target->try_write(bytes_of("y")));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  ASSERT_TRUE(ends.client->try_write(bytes_of("x")));
  ends.client->finish_writing();
  ends.target->finish_writing();
  EXPECT_EQ(listen_to(*ends.target).times,
            (std::vector{begin + latency + 5ms, begin + latency + 6ms}));
  EXPECT_EQ(listen_to(*ends.client).times, std::vector{begin + latency + 40ms});
  EXPECT_GE(count(Kind::delayed), 3u);
}

TEST_F(ChaosProxyTest, JitterSpreadsBytesAndKeepsTheirOrder) {
  start({.to_target = {.jitter = 20ms}});
  const Ends ends = open();
  const TimePoint begin = now();
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    ASSERT_TRUE(ends.client->try_write(bytes_of(std::string_view(&letter, 1))));
    ASSERT_TRUE(coroutine::sleep_for(1ms));
  }
  ends.client->finish_writing();
  const Heard heard = listen_to(*ends.target);
  EXPECT_EQ(heard.text, "abcdefghijklmnopqrstuvwxyz");
  EXPECT_GT(heard.times.back() - begin, 25ms + latency);
  EXPECT_LE(heard.times.back() - begin, 25ms + latency + 20ms);
}

TEST_F(ChaosProxyTest, SlicesDownToASingleByte) {
  for (const std::size_t size_max : {1u, 7u, 300u}) {
    SCOPED_TRACE(size_max);
    if (proxy_) proxy_.reset();
    listener_.reset();
    start({.to_target = {.slice_bytes_max = size_max}});
    const Ends ends = open();
    const std::string text = text_of_length(2000);
    ASSERT_TRUE(ends.client->try_write(bytes_of(text)));
    ends.client->finish_writing();
    const Heard heard = listen_to(*ends.target);
    EXPECT_EQ(heard.text, text);
    const auto sizes = std::ranges::minmax(
        proxy_->trace().events() | std::views::filter([](const ChaosEvent& event) {
          return event.kind == Kind::forwarded || event.kind == Kind::sliced;
        }) |
        std::views::transform([](const ChaosEvent& event) { return event.byte_count; }));
    EXPECT_LE(sizes.min, 1 + size_max / 8);
    EXPECT_LE(sizes.max, size_max);
    EXPECT_GT(sizes.max, size_max * 8 / 10);
    EXPECT_EQ(count(Kind::forwarded), 1u);
  }
}

TEST_F(ChaosProxyTest, BandwidthSpreadsBytesEvenly) {
  start({.to_target = {.slice_bytes_max = 10, .bytes_per_second = 1000}});
  const Ends ends = open();
  const TimePoint begin = now();
  ASSERT_TRUE(ends.client->try_write(bytes_of(text_of_length(5000))));
  ends.client->finish_writing();
  const Heard heard = listen_to(*ends.target);
  EXPECT_EQ(heard.text.size(), 5000u);
  EXPECT_GE(heard.times.back() - begin, 4990ms + latency);
  EXPECT_LE(heard.times.back() - begin, 5000ms + latency);
  // Half of the bytes take half the time.
  EXPECT_NEAR(std::chrono::duration<double>(heard.times[heard.times.size() / 2] - begin).count(),
              2.5, 0.3);
  EXPECT_GT(count(Kind::throttled), 400u);
}

TEST_F(ChaosProxyTest, PausesEndByThemselves) {
  start({.to_target = {.slice_bytes_max = 10, .pause_one_in = 5, .pause_max = 1s}});
  const Ends ends = open();
  const TimePoint begin = now();
  const std::string text = text_of_length(1000);
  ASSERT_TRUE(ends.client->try_write(bytes_of(text)));
  ends.client->finish_writing();
  EXPECT_EQ(listen_to(*ends.target).text, text);
  EXPECT_GT(count(Kind::paused), 10u);
  EXPECT_GT(now() - begin, 1s);
}

TEST_F(ChaosProxyTest, AHangIsFeltByTheSenderAndEndsWithResume) {
  start({});
  const Ends ends = open({.output_bytes_max = 1024});
  ASSERT_TRUE(ends.client->try_write(bytes_of("before ")));
  const std::uint64_t connection = proxy_->connections().front();
  proxy_->inject_after(connection, to_target, ChaosFault::hang, 7);
  ASSERT_TRUE(coroutine::sleep_for(10ms));

  std::string sent = "before ";
  const std::string part = text_of_length(100'000);
  Result<void> written;
  while (written) {
    written = ends.client->write_all(bytes_of(part), Deadline::after(1min));
    sent += part;
    ASSERT_LT(sent.size(), 1'000'000u) << "the sender never feels it";
  }
  EXPECT_THAT(written, fails_with(Code::deadline_exceeded));
  std::array<std::byte, 64> buffer;
  EXPECT_EQ(ends.target->read_some(buffer, Deadline::after(1h)), 7u);
  EXPECT_THAT(ends.target->read_some(buffer, Deadline::after(1h)),
              fails_with(Code::deadline_exceeded));
  // The other direction keeps moving.
  ASSERT_TRUE(ends.target->try_write(bytes_of("y")));
  EXPECT_EQ(ends.client->read_some(buffer, Deadline::after(1s)), 1u);

  proxy_->resume();
  ends.client->finish_writing();
  EXPECT_EQ(listen_to(*ends.target).text, sent.substr(7));
  EXPECT_EQ(count(Kind::hung), 1u);
  EXPECT_EQ(count(Kind::resumed), 1u);
}

TEST_F(ChaosProxyTest, DroppedBytesVanishAndTheConnectionStaysOpen) {
  start({});
  const Ends ends = open({.output_bytes_max = 1024});
  proxy_->inject_after(proxy_->connections().front(), to_target, ChaosFault::drop, 3);
  for (int round = 0; round < 100; ++round) {
    // The sender feels no backpressure: its bytes are accepted and lost.
    ASSERT_TRUE(ends.client->write_all(bytes_of(text_of_length(10'000)), Deadline::after(1s)));
  }
  ends.client->finish_writing();
  const Heard heard = listen_to(*ends.target);
  EXPECT_EQ(heard.text, text_of_length(3));
  EXPECT_THAT(heard.end, fails_with(Code::deadline_exceeded));
  EXPECT_FALSE(ends.target->is_closed());
  ASSERT_TRUE(ends.target->try_write(bytes_of("still here")));
  ends.target->finish_writing();
  EXPECT_EQ(listen_to(*ends.client).text, "still here");
  EXPECT_EQ(count(Kind::dropped), 1u);
  EXPECT_EQ(proxy_->trace().byte_count(Kind::swallowed), 1'000'000u - 3);
}

TEST_F(ChaosProxyTest, AResetComesAtItsByteAndIsSeenByBothEnds) {
  start({});
  const Ends ends = open();
  proxy_->inject_after(proxy_->connections().front(), to_target, ChaosFault::reset, 1234);
  ASSERT_TRUE(ends.client->try_write(bytes_of(text_of_length(5000))));
  const Heard heard = listen_to(*ends.target);
  EXPECT_EQ(heard.text, text_of_length(1234));
  EXPECT_THAT(heard.end, fails_with(Code::unavailable));
  EXPECT_THAT(listen_to(*ends.client).end, fails_with(Code::unavailable));
  EXPECT_EQ(count(Kind::reset), 1u);
  EXPECT_TRUE(proxy_->connections().empty());
}

TEST_F(ChaosProxyTest, ACloseComesAtItsByteAndLooksOrderly) {
  start({});
  const Ends ends = open();
  proxy_->inject_after(proxy_->connections().front(), to_client, ChaosFault::close, 99);
  ASSERT_TRUE(ends.target->try_write(bytes_of(text_of_length(5000))));
  const Heard heard = listen_to(*ends.client);
  EXPECT_EQ(heard.text, text_of_length(99));
  EXPECT_TRUE(heard.end) << heard.end;
  const Heard other = listen_to(*ends.target);
  EXPECT_EQ(other.text, "");
  EXPECT_TRUE(other.end) << other.end;
  EXPECT_EQ(count(Kind::closed), 1u);
}

TEST_F(ChaosProxyTest, AHalfCloseEndsOneDirectionOnly) {
  start({});
  const Ends ends = open();
  proxy_->inject_after(proxy_->connections().front(), to_target, ChaosFault::half_close, 5);
  ASSERT_TRUE(ends.client->try_write(bytes_of("hello world")));
  const Heard heard = listen_to(*ends.target);
  EXPECT_EQ(heard.text, "hello");
  EXPECT_TRUE(heard.end) << heard.end;
  ASSERT_TRUE(ends.target->try_write(bytes_of("who is there?")));
  ends.target->finish_writing();
  EXPECT_EQ(listen_to(*ends.client).text, "who is there?");
  EXPECT_EQ(count(Kind::half_closed), 1u);
  EXPECT_EQ(proxy_->trace().byte_count(Kind::swallowed), 6u);
}

TEST_F(ChaosProxyTest, RefusedConnectionsNeverReachTheTarget) {
  start({.refuse_one_in = 1});
  const auto client = connect();
  EXPECT_THAT(listen_to(*client).end, fails_with(Code::unavailable));
  EXPECT_THAT(listener_->accept(Deadline::after(1min)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(count(Kind::refused), 1u);
}

TEST_F(ChaosProxyTest, AConnectionToAMissingTargetIsRefused) {
  start({});
  listener_->close();
  const auto client = connect();
  EXPECT_THAT(listen_to(*client).end, fails_with(Code::unavailable));
  EXPECT_EQ(count(Kind::refused), 1u);
}

TEST_F(ChaosProxyTest, AProxyThatDoesNotListenRefusesNewConnections) {
  start({});
  const Ends before = open();
  proxy_->stop_listening();
  EXPECT_THAT(network_.connect({"proxy", 2}, Deadline::after(1s)), fails_with(Code::unavailable));
  ASSERT_TRUE(before.client->try_write(bytes_of("x")));
  std::array<std::byte, 64> buffer;
  EXPECT_EQ(before.target->read_some(buffer, Deadline::after(1s)), 1u);
  ASSERT_TRUE(proxy_->listen_again());
  const Ends after = open();
  EXPECT_NE(after.target, nullptr);
}

TEST_F(ChaosProxyTest, NewConnectionsMayHaveToWait) {
  start({.connect_delay_max = 10s});
  const TimePoint begin = now();
  const Ends ends = open();
  EXPECT_GT(now() - begin, 10ms);
  EXPECT_LE(now() - begin, 10s + 4ms);
  EXPECT_EQ(count(Kind::connected_late), 1u);
}

TEST_F(ChaosProxyTest, LaterBytesOfAnotherConnectionMayComeFirst) {
  start({.to_target = {.overtake_one_in = 1, .overtaking_max = 1s}});
  const Ends first = open();
  proxy_->set_plan({});
  const Ends second = open();
  const TimePoint begin = now();
  ASSERT_TRUE(first.client->try_write(bytes_of("one")));
  ASSERT_TRUE(coroutine::sleep_for(50ms));
  ASSERT_TRUE(second.client->try_write(bytes_of("two")));
  second.client->finish_writing();
  const Heard two = listen_to(*second.target);
  EXPECT_EQ(two.times, std::vector{begin + 50ms + latency});
  // The first bytes follow at once; without another connection they would wait out their time.
  std::array<std::byte, 64> buffer;
  EXPECT_EQ(first.target->read_some(buffer, Deadline::after(1h)), 3u);
  EXPECT_EQ(now() - begin, 50ms + latency);
  EXPECT_EQ(count(Kind::overtaken), 1u);

  const TimePoint alone = now();
  ASSERT_TRUE(first.client->try_write(bytes_of("one more")));
  EXPECT_EQ(first.target->read_some(buffer, Deadline::after(1h)), 8u);
  EXPECT_EQ(now() - alone, latency + 1s);
  EXPECT_EQ(count(Kind::overtaken), 1u);
}

TEST_F(ChaosProxyTest, AFaultMayStrikeAllConnectionsAtOnce) {
  start({});
  std::vector<Ends> all;
  for (int index = 0; index < 5; ++index) all.push_back(open());
  EXPECT_EQ(proxy_->connections(), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
  proxy_->inject(ChaosFault::reset);
  for (const Ends& ends : all) {
    EXPECT_THAT(listen_to(*ends.client).end, fails_with(Code::unavailable));
    EXPECT_THAT(listen_to(*ends.target).end, fails_with(Code::unavailable));
  }
  EXPECT_EQ(count(Kind::reset), 5u);
}

TEST_F(ChaosProxyTest, HealingDiscardsThePlan) {
  start({.hang_one_in = 1,
         .fault_bytes_max = 0,
         .to_target = {.delay = 1s, .slice_bytes_max = 1},
         .to_client = {.delay = 1s, .slice_bytes_max = 1}});
  const Ends hanging = open();
  const Ends dropping = open();
  proxy_->inject_after(2, to_client, ChaosFault::drop, 0);
  ASSERT_TRUE(hanging.client->try_write(bytes_of("patience")));
  ASSERT_TRUE(hanging.target->try_write(bytes_of("patience")));
  proxy_->stop_listening();
  ASSERT_TRUE(coroutine::sleep_for(1min));

  ASSERT_TRUE(proxy_->heal());

  hanging.client->finish_writing();
  hanging.target->finish_writing();
  EXPECT_EQ(listen_to(*hanging.target).text, "patience");
  EXPECT_EQ(listen_to(*hanging.client).text, "patience");
  EXPECT_THAT(listen_to(*dropping.client).end, fails_with(Code::unavailable));
  const TimePoint begin = now();
  const Ends fresh = open();
  ASSERT_TRUE(fresh.client->try_write(bytes_of("fresh")));
  std::array<std::byte, 64> buffer;
  EXPECT_EQ(fresh.target->read_some(buffer, Deadline::after(1s)), 5u);
  EXPECT_EQ(now() - begin, 2 * latency + latency);
}

TEST(ChaosRealTest, ItWorksOverSocketsAsWell) {
  run_on_real_loop([](RealLoop& real) {
    const auto listener = real.network.listen({"127.0.0.1", 0}).value();
    ChaosProxy proxy(real.network, {.target = listener->local_endpoint(),
                                    .plan = {.to_target = {.delay = 1ms, .slice_bytes_max = 700},
                                             .to_client = {.slice_bytes_max = 3}}});
    const auto endpoint = proxy.listen({"127.0.0.1", 0});
    ASSERT_TRUE(endpoint) << endpoint;
    const auto client = real.network.connect(*endpoint, soon()).value();
    const auto target = listener->accept(soon()).value();
    const std::string text = text_of_length(50'000);
    ASSERT_TRUE(client->write_all(bytes_of(text), soon()));
    client->finish_writing();
    EXPECT_EQ(listen_to(*target).text, text);
    proxy.inject_after(1, to_client, ChaosFault::close, 77);
    ASSERT_TRUE(target->write_all(bytes_of(text_of_length(500)), soon()));
    const Heard answer = listen_to(*client);
    EXPECT_EQ(answer.text, text_of_length(77));
    EXPECT_TRUE(answer.end) << answer.end;
    EXPECT_GT(proxy.trace().count(Kind::sliced), 50u);
    EXPECT_GT(proxy.trace().count(Kind::delayed), 0u);
    EXPECT_EQ(proxy.trace().count(Kind::closed), 1u);
  });
}

}  // namespace
}  // namespace corolane::test
