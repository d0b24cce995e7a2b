// SPDX-License-Identifier: MIT
// Streams as code on the loop's stack uses them: a ReadSink, and try_write() from within it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/stream.h"
#include "test/fixtures/real_loop.h"
#include "test/net/raw_socket.h"
#include "test/net/stream_pair.h"
#include "test/net/system_calls.h"
#include "test/net/test_sink.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::EndsWith;

TEST(ReadSinkTest, EchoesWithoutATask) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    TestSink echo;
    echo.when_bytes = [&](auto bytes) { EXPECT_TRUE(pair->server->try_write(bytes)); };
    pair->server->set_read_sink(echo);
    const auto task_count = real.scheduler.tasks().size();
    for (const char* text : {"one", "two", "three"}) {
      EXPECT_TRUE(send_text(*pair->client, text));
      EXPECT_EQ(read_exactly(*pair->client, std::string_view(text).size()).value_or(""), text);
    }
    EXPECT_EQ(real.scheduler.tasks().size(), task_count);
    EXPECT_EQ(echo.text, "onetwothree");
  });
}

TEST(ReadSinkTest, ReadingIsArmedOnce) {
  if (!sees_system_calls) GTEST_SKIP() << "system calls are not seen here";
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    TestSink echo;
    echo.when_bytes = [&](auto bytes) { EXPECT_TRUE(pair->server->try_write(bytes)); };
    pair->server->set_read_sink(echo);
    const auto exchange = [&] {
      EXPECT_TRUE(send_text(*pair->client, "message"));
      EXPECT_EQ(read_exactly(*pair->client, 7).value_or(""), "message");
    };
    exchange();
    const std::uint64_t before = system_calls().epoll_ctl_count;
    for (int round = 0; round < 50; ++round) exchange();
    EXPECT_EQ(system_calls().epoll_ctl_count, before)
        << "neither the task's stream nor the sink's needs one";
  });
}

TEST(ReadSinkTest, AMillionBytesArriveInOrder) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    pair->server->set_read_sink(sink);
    std::string text;
    while (text.size() < 1'000'000) text += std::to_string(text.size()) + " ";
    EXPECT_TRUE(send_text(*pair->client, text));
    sink.wait_for_text(text);
  });
}

TEST(ReadSinkTest, IsToldOfThePeersEndOnceAndMayStillAnswer) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    pair->server->set_read_sink(sink);
    EXPECT_TRUE(pair->client->try_write(bytes_of("question")));
    pair->client->finish_writing();
    sink.wait_for_end();
    EXPECT_EQ(sink.text, "question");
    EXPECT_EQ(sink.ends.front(), "unavailable: connection to " +
                                     to_string(pair->server->peer_endpoint()) + ": closed by peer");
    EXPECT_FALSE(pair->server->is_closed());
    EXPECT_TRUE(pair->server->try_write(bytes_of("answer")));
    pair->server->finish_writing();
    EXPECT_EQ(read_all(*pair->client).value_or(""), "answer");
    pair->server->close();
    EXPECT_EQ(sink.ends.size(), 1u);
  });
}

TEST(ReadSinkTest, IsToldOfAReset) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    RawSocket peer;
    peer.connect((*listener)->local_endpoint());
    auto stream = (*listener)->accept(soon());
    ASSERT_TRUE(stream) << stream;
    TestSink sink;
    (*stream)->set_read_sink(sink);
    peer.reset();
    sink.wait_for_end();
    EXPECT_THAT(sink.ends.front(), EndsWith("connection reset by peer"));
    EXPECT_TRUE((*stream)->is_closed());
    EXPECT_THAT((*stream)->try_write(bytes_of("x")), fails_with(Code::unavailable));
    EXPECT_EQ(sink.ends.size(), 1u);
  });
}

TEST(ReadSinkTest, IsToldOfAFailedWrite) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    pair->server->set_read_sink(sink);
    pair->client.reset();
    Result<void> sent;
    while (sent) sent = send_text(*pair->server, "anybody?");
    sink.wait_for_end();
    EXPECT_EQ(sink.ends.size(), 1u);
  });
}

TEST(ReadSinkTest, IsToldThatAStalledPeerWasClosed) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network, {.output_bytes_max = 1000, .output_stall_max = 5ms});
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    pair->client->set_read_sink(sink);
    EXPECT_TRUE(pair->client->try_write(bytes_of(flood())));
    sink.wait_for_end();
    EXPECT_THAT(sink.ends.front(), EndsWith("the peer took no output for too long"));
    EXPECT_TRUE(pair->client->is_closed());
  });
}

TEST(ReadSinkTest, ReceivesEarlierInputFirst) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(send_text(*pair->client, "a"));
    EXPECT_EQ(read_text(*pair->server).value_or(""), "a");
    const std::string text(100'000, 'b');  // More than the stream reads ahead.
    EXPECT_TRUE(send_text(*pair->client, text));
    pair->client->finish_writing();
    see_arrivals(real.network);
    EXPECT_EQ(read_text(*pair->server, soon(), 1).value_or(""), "b");
    TestSink sink;
    pair->server->set_read_sink(sink);
    EXPECT_EQ(sink.text, "") << "not inside the call";
    sink.wait_for_end();
    EXPECT_EQ(sink.text, text.substr(1));
  });
}

TEST(ReadSinkTest, IsToldOfAnEarlierEnd) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    pair->client.reset();
    EXPECT_EQ(read_all(*pair->server).value_or("x"), "");
    TestSink sink;
    pair->server->set_read_sink(sink);
    EXPECT_TRUE(sink.ends.empty()) << "not inside the call";
    sink.wait_for_end();
  });
}

TEST(ReadSinkTest, ANewSinkReplacesTheOldOne) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    TestSink greeter;
    TestSink worker;
    greeter.when_bytes = [&](auto) { pair->server->set_read_sink(worker); };
    pair->server->set_read_sink(greeter);
    EXPECT_TRUE(send_text(*pair->client, "hello"));
    greeter.wait_for_text("hello");
    EXPECT_TRUE(send_text(*pair->client, "work"));
    worker.wait_for_text("work");
    EXPECT_EQ(greeter.text, "hello");
  });
}

TEST(ReadSinkTest, MayCloseItsStreamAndIsNotCalledAgain) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    sink.when_bytes = [&](auto) { pair->server->close(); };
    pair->server->set_read_sink(sink);
    EXPECT_TRUE(pair->client->try_write(bytes_of(std::string(1'000'000, 'x'))));
    EXPECT_EQ(read_all(*pair->client).value_or(""), "");
    EXPECT_LE(sink.text.size(), 64u * 1024);
    EXPECT_TRUE(sink.ends.empty());
  });
}

TEST(ReadSinkTest, MayDestroyItsStreamOnBytes) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    sink.when_bytes = [&](auto) { pair->server.reset(); };
    pair->server->set_read_sink(sink);
    EXPECT_TRUE(send_text(*pair->client, "bye"));
    sink.wait_for_text("bye");
    EXPECT_EQ(pair->server, nullptr);
  });
}

TEST(ReadSinkTest, MayDestroyItsStreamOnEarlierBytes) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(send_text(*pair->client, "a"));
    EXPECT_EQ(read_text(*pair->server).value_or(""), "a");
    EXPECT_TRUE(send_text(*pair->client, "bye"));
    see_arrivals(real.network);
    TestSink sink;
    sink.when_bytes = [&](auto) { pair->server.reset(); };
    pair->server->set_read_sink(sink);
    sink.wait_for_text("bye");
    EXPECT_EQ(pair->server, nullptr);
  });
}

TEST(ReadSinkTest, MayDestroyItsStreamOnItsEnd) {
  run_on_real_loop([](RealLoop& real) {
    for (const bool by_reset : {false, true}) {
      auto listener = real.network.listen(loopback);
      ASSERT_TRUE(listener) << listener;
      RawSocket peer;
      peer.connect((*listener)->local_endpoint());
      auto accepted = (*listener)->accept(soon());
      ASSERT_TRUE(accepted) << accepted;
      TestSink sink;
      sink.when_end = [&] { accepted->reset(); };
      (*accepted)->set_read_sink(sink);
      if (by_reset) {
        peer.reset();
      } else {
        ::close(peer.release());
      }
      sink.wait_for_end();
      EXPECT_EQ(*accepted, nullptr);
    }
  });
}

TEST(ReadSinkTest, MayDestroyItsStreamWhenItStalls) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network, {.output_bytes_max = 1000, .output_stall_max = 5ms});
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    sink.when_end = [&] { pair->client.reset(); };
    pair->client->set_read_sink(sink);
    EXPECT_TRUE(pair->client->try_write(bytes_of(flood())));
    sink.wait_for_end();
    EXPECT_EQ(pair->client, nullptr);
  });
}

TEST(ReadSinkTest, MayDestroyEveryOtherStream) {
  run_on_real_loop([](RealLoop& real) {
    std::vector<StreamPair> pairs;
    std::vector<std::unique_ptr<TestSink>> sinks;
    int heard_count = 0;
    for (int number = 0; number < 10; ++number) {
      auto pair = make_stream_pair(real.network);
      ASSERT_TRUE(pair) << pair;
      pairs.push_back(std::move(*pair));
      sinks.push_back(std::make_unique<TestSink>());
      sinks.back()->when_bytes = [&](auto) {
        ++heard_count;
        for (StreamPair& other : pairs) other.server.reset();
      };
      pairs.back().server->set_read_sink(*sinks.back());
    }
    for (StreamPair& pair : pairs) EXPECT_TRUE(pair.client->try_write(bytes_of("all of you")));
    for (StreamPair& pair : pairs) EXPECT_NE(read_all(*pair.client).value_or(""), "answer");
    EXPECT_EQ(heard_count, 1);
  });
}

TEST(ReadSinkTest, IsNotCalledOnceItsStreamIsClosed) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    EXPECT_TRUE(send_text(*pair->client, "unheard"));
    pair->server->set_read_sink(sink);
    pair->server->close();
    pair->server->set_read_sink(sink);
    see_arrivals(real.network);
    EXPECT_EQ(sink.text, "");
    EXPECT_TRUE(sink.ends.empty());
  });
}

TEST(ReadSinkTest, ASinkThatFloodsASlowPeerIsRefused) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network, {}, {.output_bytes_max = 1000});
    ASSERT_TRUE(pair) << pair;
    const std::string flood(5'000'000, 'x');
    std::vector<bool> accepted;
    TestSink sink;
    sink.when_bytes = [&](auto) {
      accepted.push_back(pair->server->try_write(bytes_of(flood)).has_value());
    };
    pair->server->set_read_sink(sink);
    while (accepted.empty() || accepted.back()) {
      EXPECT_TRUE(send_text(*pair->client, "more"));
      see_arrivals(real.network);
    }
    EXPECT_TRUE(accepted.front());
  });
}

}  // namespace
}  // namespace corolane::net
