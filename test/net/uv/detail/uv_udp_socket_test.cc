// SPDX-License-Identifier: MIT
// UDP over loopback: batches, linear and push, and datagrams that the kernel does not take.
#include "net/uv/detail/uv_udp_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "coroutine/base/allocations.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/uv/uv_network.h"
#include "test/fixtures/real_loop.h"
#include "test/net/stream_pair.h"
#include "test/net/system_calls.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(const Datagram& datagram) {
  return {reinterpret_cast<const char*>(datagram.bytes.data()), datagram.bytes.size()};
}

// Two sockets over loopback; datagrams between them arrive unless the buffer is full.
struct UdpPair {
  explicit UdpPair(Network& network, UdpOptions options = {}) {
    auto first = network.bind_udp(loopback, options);
    auto second = network.bind_udp(loopback, options);
    check(first && second, "a test has ports left");
    a = std::move(*first);
    b = std::move(*second);
    at_a = *to_udp_peer(a->local_endpoint());
    at_b = *to_udp_peer(b->local_endpoint());
  }

  // Returns the texts of `count` datagrams at b, in as many batches as it takes. Suspends.
  std::vector<std::string> receive(std::size_t count) const {
    std::vector<std::string> texts;
    while (texts.size() < count) {
      auto batch = b->receive(soon());
      EXPECT_TRUE(batch) << batch;
      if (!batch) break;
      for (const Datagram& datagram : *batch) texts.push_back(text_of(datagram));
    }
    return texts;
  }

  std::unique_ptr<UdpSocket> a;
  std::unique_ptr<UdpSocket> b;
  UdpPeer at_a;
  UdpPeer at_b;
};

class TestDatagramSink final : public DatagramSink {
 public:
  void on_datagrams(std::span<const Datagram> datagrams) override {
    for (const Datagram& datagram : datagrams) texts.push_back(text_of(datagram));
    if (when_datagrams) when_datagrams(datagrams);
    heard.pulse();
  }
  // Suspends.
  void wait_for(std::size_t count) {
    while (texts.size() < count) ASSERT_TRUE(heard.wait(soon()));
  }

  std::function<void(std::span<const Datagram>)> when_datagrams;
  std::vector<std::string> texts;
  coroutine::Event heard{"a datagram sink"};
};

TEST(UdpSocketTest, ADatagramArrivesWithItsSender) {
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network);
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("question")));
    auto question = pair.b->receive(soon());
    ASSERT_TRUE(question) << question;
    ASSERT_EQ(question->size(), 1u);
    EXPECT_EQ(text_of(question->front()), "question");
    EXPECT_EQ(question->front().peer, pair.at_a);
    EXPECT_FALSE(question->front().is_truncated);
    EXPECT_TRUE(pair.b->send(question->front().peer, bytes_of("answer"), soon()));
    auto answer = pair.a->receive(soon());
    ASSERT_TRUE(answer) << answer;
    EXPECT_EQ(text_of(answer->front()), "answer");
  });
}

TEST(UdpSocketTest, IPv6Works) {
  run_on_real_loop([](RealLoop& real) {
    auto socket = real.network.bind_udp({.address = "::1"});
    if (!socket) GTEST_SKIP() << "no IPv6 here: " << socket;
    const UdpPeer itself = *to_udp_peer((*socket)->local_endpoint());
    EXPECT_TRUE((*socket)->try_send(itself, bytes_of("echo")));
    auto batch = (*socket)->receive(soon());
    ASSERT_TRUE(batch) << batch;
    EXPECT_EQ(batch->front().peer, itself);
  });
}

TEST(UdpSocketTest, DatagramsKeepTheirBoundaries) {
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network);
    for (const char* text : {"", "one", "", "three"}) {
      EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of(text)));
    }
    EXPECT_THAT(pair.receive(4), ElementsAre("", "one", "", "three"));
  });
}

TEST(UdpSocketTest, DatagramsOfATurnLeaveInOneCallAndArriveInOne) {
  if (!sees_system_calls) GTEST_SKIP() << "system calls are not seen here";
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network);
    const SystemCalls before = system_calls();
    for (int number = 0; number < 32; ++number) {
      EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of(std::to_string(number))));
    }
    auto reader = coroutine::spawn("reader", [&] { return pair.b->receive(soon()); });
    const auto batch = reader.join(soon());
    ASSERT_TRUE(batch) << batch;
    EXPECT_EQ(batch->size(), 32u);
    EXPECT_EQ(text_of(batch->back()), "31");
    EXPECT_EQ(system_calls().sendmmsg_count - before.sendmmsg_count, 1u);
    // The reader may ask before the turn that sends has ended.
    EXPECT_LE(system_calls().recvmmsg_count - before.recvmmsg_count, 2u);
    EXPECT_EQ(pair.a->statistics().sent_count, 32u);
    EXPECT_EQ(pair.b->statistics().received_count, 32u);
  });
}

TEST(UdpSocketTest, ALongDatagramArrivesTruncatedAndMarked) {
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network, {.datagram_bytes_max = 10});
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("0123456789")));
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("0123456789A")));
    std::vector<bool> truncated;
    while (truncated.size() < 2) {
      auto batch = pair.b->receive(soon());
      ASSERT_TRUE(batch) << batch;
      for (const Datagram& datagram : *batch) {
        EXPECT_EQ(text_of(datagram), "0123456789");
        truncated.push_back(datagram.is_truncated);
      }
    }
    EXPECT_THAT(truncated, ElementsAre(false, true));
    EXPECT_EQ(pair.b->statistics().truncated_count, 1u);
  });
}

TEST(UdpSocketTest, TheLargestDatagramFitsAndALargerOneIsRefused) {
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network, {.datagram_bytes_max = datagram_payload_max});
    const std::string largest(datagram_payload_max, 'x');
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of(largest)));
    EXPECT_TRUE(pair.receive(1).front() == largest);
    EXPECT_THAT(pair.a->try_send(pair.at_b, bytes_of(largest + "x")),
                fails_with(Code::invalid_argument));
  });
}

TEST(UdpSocketTest, ATaskWaitsForDatagramsWithADeadline) {
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network);
    EXPECT_THAT(pair.b->receive(Deadline::passed()), fails_with(Code::deadline_exceeded));
    EXPECT_THAT(pair.b->receive(Deadline::after(1ms)), fails_with(Code::deadline_exceeded));
    auto reader = coroutine::spawn("reader", [&] { return pair.receive(1); });
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("late")));
    EXPECT_THAT(reader.join(soon()).value(), ElementsAre("late"));
    auto cancelled = coroutine::spawn("cancelled", [&]() -> Result<void> {
      auto batch = pair.b->receive(soon());
      if (!batch) return batch.error();
      return {};
    });
    EXPECT_TRUE(coroutine::yield());
    cancelled.cancel();
    EXPECT_THAT(cancelled.join(soon()), fails_with(Code::cancelled));
  });
}

TEST(UdpSocketTest, DatagramsWithoutAReaderWaitInTheKernelAndCostTheLoopNothing) {
  if (!sees_system_calls) GTEST_SKIP() << "system calls are not seen here";
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network);
    // From now on the socket is watched, although it has no reader any more.
    EXPECT_THAT(pair.b->receive(Deadline::after(1ms)), fails_with(Code::deadline_exceeded));
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("waits")));
    see_arrivals(real.network);
    // A socket that is watched would end each wait of the loop.
    const std::uint64_t events_before = system_calls().epoll_event_count;
    const std::uint64_t turns_before = real.scheduler.statistics().turn_count;
    // Some of these sleeps end within their turn.
    for (int turn = 0; turn < 200; ++turn) ASSERT_TRUE(coroutine::sleep_for(1us));
    EXPECT_GE(real.scheduler.statistics().turn_count - turns_before, 50u);
    EXPECT_EQ(system_calls().epoll_event_count, events_before);
    EXPECT_THAT(pair.receive(1), ElementsAre("waits"));
  });
}

TEST(UdpSocketTest, ASinkReceivesWithoutATaskAndMayAnswer) {
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network);
    TestDatagramSink echo;
    echo.when_datagrams = [&](std::span<const Datagram> datagrams) {
      for (const Datagram& datagram : datagrams) {
        EXPECT_TRUE(pair.a->try_send(datagram.peer, datagram.bytes));
      }
    };
    pair.a->set_sink(echo);
    for (const char* text : {"one", "two"}) {
      EXPECT_TRUE(pair.b->try_send(pair.at_a, bytes_of(text)));
      EXPECT_THAT(pair.receive(1), ElementsAre(text));
    }
    EXPECT_THAT(echo.texts, ElementsAre("one", "two"));
  });
}

TEST(UdpSocketTest, ASinkReceivesEarlierDatagramsAndNoneAfterItsClose) {
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network, {.datagram_bytes_max = datagram_payload_max});
    // A batch of this socket is one datagram.
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("heard")));
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("unheard")));
    see_arrivals(real.network);
    TestDatagramSink sink;
    sink.when_datagrams = [&](auto) { pair.b->close(); };
    pair.b->set_sink(sink);
    EXPECT_TRUE(sink.texts.empty()) << "not inside the call";
    sink.wait_for(1);
    see_arrivals(real.network);
    EXPECT_THAT(sink.texts, ElementsAre("heard"));
    EXPECT_EQ(pair.b->statistics().received_count, 1u);
  });
}

TEST(UdpSocketTest, AReadingSinkCostsNoEpollCtl) {
  if (!sees_system_calls) GTEST_SKIP() << "system calls are not seen here";
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network);
    TestDatagramSink sink;
    pair.b->set_sink(sink);
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("first")));
    sink.wait_for(1);
    const SystemCalls before = system_calls();
    for (std::size_t count = 2; count < 50; ++count) {
      EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("next")));
      sink.wait_for(count);
    }
    EXPECT_EQ(system_calls().epoll_ctl_count, before.epoll_ctl_count);
  });
}

// While it exists, the kernel takes no datagrams, or only a limited number at once.
class BusyKernel {
 public:
  explicit BusyKernel(int error) { system_calls().sendmmsg_error = error; }
  ~BusyKernel() { system_calls().sendmmsg_error = 0; }
  BusyKernel(const BusyKernel&) = delete;
  BusyKernel& operator=(const BusyKernel&) = delete;
};

TEST(UdpSocketTest, DatagramsThatTheKernelRefusesWaitUpToTheBoundAndLeaveInOrder) {
  if (!sees_system_calls) GTEST_SKIP() << "system calls are not seen here";
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network, {.output_count_max = 3});
    {
      const BusyKernel busy(EAGAIN);
      for (const char* text : {"1", "2", "3"}) {
        EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of(text)));
      }
      const auto refused = pair.a->try_send(pair.at_b, bytes_of("4"));
      ASSERT_THAT(refused, fails_with(Code::resource_exhausted));
      EXPECT_THAT(refused.error().message(), HasSubstr("3 datagrams wait"));
      EXPECT_THAT(pair.a->send(pair.at_b, bytes_of("4"), Deadline::after(1ms)),
                  fails_with(Code::deadline_exceeded));
    }
    EXPECT_TRUE(pair.a->send(pair.at_b, bytes_of("5"), soon()));
    EXPECT_THAT(pair.receive(4), ElementsAre("1", "2", "3", "5"));
    EXPECT_EQ(pair.a->statistics().lost_count, 0u);
  });
}

TEST(UdpSocketTest, OutputIsBoundedByBytesAsWell) {
  if (!sees_system_calls) GTEST_SKIP() << "system calls are not seen here";
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network, {.output_bytes_max = 1000});
    const BusyKernel busy(EAGAIN);
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of(std::string(900, 'x'))));
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of(std::string(100, 'x'))));
    EXPECT_THAT(pair.a->try_send(pair.at_b, bytes_of("x")), fails_with(Code::resource_exhausted));
  });
}

TEST(UdpSocketTest, ATurnMaySendMoreThanTheBoundWhileTheKernelTakesIt) {
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network, {.output_count_max = 10});
    std::vector<std::string> sent;
    for (int number = 0; number < 100; ++number) {
      sent.push_back(std::to_string(number));
      EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of(sent.back())));
    }
    EXPECT_EQ(pair.receive(100), sent);
  });
}

TEST(UdpSocketTest, ADatagramThatCannotBeSentIsCountedAndDelaysNoOther) {
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network);
    UdpPeer nowhere = pair.at_b;
    nowhere.port = 0;
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("before")));
    EXPECT_TRUE(pair.a->try_send(nowhere, bytes_of("lost")));
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("after")));
    EXPECT_THAT(pair.receive(2), ElementsAre("before", "after"));
    EXPECT_EQ(pair.a->statistics().lost_count, 1u);
    EXPECT_EQ(pair.a->statistics().sent_count, 2u);
  });
}

TEST(UdpSocketTest, AMissingPeerBreaksNothing) {
  run_on_real_loop([](RealLoop& real) {
    UdpPair pair(real.network);
    auto third = real.network.bind_udp(loopback);
    ASSERT_TRUE(third) << third;
    const UdpPeer gone = *to_udp_peer((*third)->local_endpoint());
    third->reset();
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(pair.a->try_send(gone, bytes_of("anybody?")));
      EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("you")));
      EXPECT_THAT(pair.receive(1), ElementsAre("you"));
    }
  });
}

TEST(UdpSocketTest, CloseSendsTheQueueAndEndsEveryWaitingCall) {
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network);
    auto reader = coroutine::spawn("reader", [&]() -> Result<void> {
      auto batch = pair.a->receive(soon());
      if (!batch) return batch.error();
      return {};
    });
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    EXPECT_TRUE(pair.a->try_send(pair.at_b, bytes_of("farewell")));
    pair.a->close();
    pair.a->close();
    EXPECT_THAT(reader.join(soon()), fails_with(Code::unavailable));
    EXPECT_THAT(pair.a->receive(soon()), fails_with(Code::unavailable));
    EXPECT_THAT(pair.a->try_send(pair.at_b, bytes_of("x")), fails_with(Code::unavailable));
    EXPECT_THAT(pair.a->send(pair.at_b, bytes_of("x"), soon()), fails_with(Code::unavailable));
    EXPECT_THAT(pair.receive(1), ElementsAre("farewell"));
  });
}

TEST(UdpSocketTest, OnlyFreeNumericAddressesOfThisMachineAreBound) {
  run_on_real_loop([](RealLoop& real) {
    auto socket = real.network.bind_udp(loopback);
    ASSERT_TRUE(socket) << socket;
    const auto taken = real.network.bind_udp((*socket)->local_endpoint());
    ASSERT_THAT(taken, fails_with(Code::already_exists));
    EXPECT_THAT(taken.error().message(), HasSubstr(to_string((*socket)->local_endpoint())));
    for (const char* address : {"localhost", "192.0.2.1", "unix:/run/a.sock"}) {
      EXPECT_THAT(real.network.bind_udp({.address = address}), fails_with(Code::invalid_argument));
    }
  });
}

// Returns each datagram to its sender until `rounds_left` is used up.
class Player final : public DatagramSink {
 public:
  Player(UdpSocket& socket, int& rounds_left, coroutine::Event& over)
      : socket_(socket), rounds_left_(rounds_left), over_(over) {
    socket.set_sink(*this);
  }

  void on_datagrams(std::span<const Datagram> datagrams) override {
    if (--rounds_left_ == 0) over_.set();
    for (const Datagram& datagram : datagrams) {
      check(socket_.try_send(datagram.peer, datagram.bytes).has_value(), "there is room");
    }
  }

 private:
  UdpSocket& socket_;
  int& rounds_left_;
  coroutine::Event& over_;
};

TEST(UdpSocketTest, TheSteadyStateAllocatesNothing) {
  if (test::under_sanitizer) GTEST_SKIP() << "allocations are not seen here";
  run_on_real_loop([](RealLoop& real) {
    const UdpPair pair(real.network);
    int rounds_left = 0;
    coroutine::Event over{"end of the game"};
    const Player at_a(*pair.a, rounds_left, over);
    const Player at_b(*pair.b, rounds_left, over);
    const auto play = [&](int rounds) {
      rounds_left = rounds;
      over.reset();
      ASSERT_TRUE(over.wait(soon()));
    };
    // Both ends have output in the same turn, as they may later on.
    const auto ball = bytes_of("a ball that is longer than a string is");
    for (int count = 0; count < 5; ++count) {
      ASSERT_TRUE(pair.a->try_send(pair.at_b, ball));
      ASSERT_TRUE(pair.b->try_send(pair.at_a, ball));
    }
    play(100);
    const std::uint64_t before = allocations().count;
    play(1000);
    EXPECT_EQ(allocations().count, before);
    EXPECT_GT(pair.a->statistics().sent_count, 500u);
  });
}

}  // namespace
}  // namespace corolane::net
