// SPDX-License-Identifier: MIT
// A sink that hands its stream over to another reader: over sockets, inside of TLS, simulated.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "coroutine/task.h"
#include "test/net/test_sink.h"
#include "test/net/tls/tls_world.h"

namespace corolane::net {
namespace {

using Body = std::function<void(Stream& client, Stream& server)>;

void over_sockets(const Body& body) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    body(*pair->client, *pair->server);
  });
}

void inside_of_tls(const Body& body) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  body(*pair->client, *pair->server);
}

void over_the_simulated_network(const Body& body) {
  sim::SimulatedNetwork network;
  auto pair = make_stream_pair(network);
  ASSERT_TRUE(pair) << pair;
  body(*pair->client, *pair->server);
}

class ReleaseSinkTest : public testing::TestWithParam<void (*)(const Body&)> {
 protected:
  // Lets a sink read until it has `text`, and give all of it back. Suspends.
  static void read_and_release(Stream& stream, std::string_view text) {
    TestSink first;
    first.when_bytes = [&](auto) {
      if (first.text.size() >= text.size()) stream.release_read_sink(bytes_of(first.text));
    };
    stream.set_read_sink(first);
    while (first.text.size() < text.size()) ASSERT_TRUE(first.heard.wait(test::soon()));
  }
};

INSTANTIATE_TEST_SUITE_P(Streams, ReleaseSinkTest,
                         testing::Values(over_sockets, inside_of_tls, over_the_simulated_network));

TEST_P(ReleaseSinkTest, ATaskReadsWhatTheSinkGaveBackAndWhatComesBehindIt) {
  GetParam()([](Stream& client, Stream& server) {
    EXPECT_TRUE(send_text(client, "hello"));
    read_and_release(server, "hello");
    EXPECT_TRUE(send_text(client, " world"));
    client.finish_writing();
    EXPECT_EQ(read_text(server, test::soon(), 3).value_or(""), "hel");
    EXPECT_EQ(read_exactly(server, 8).value_or(""), "lo world");
    EXPECT_EQ(read_all(server).value_or("broken"), "");
  });
}

TEST_P(ReleaseSinkTest, AnotherSinkReadsItOnceAndIsToldOfTheEnd) {
  GetParam()([](Stream& client, Stream& server) {
    EXPECT_TRUE(send_text(client, "hello"));
    read_and_release(server, "hello");
    TestSink next;
    server.set_read_sink(next);
    EXPECT_EQ(next.text, "") << "it is not called inside of the call that sets it";
    next.wait_for_text("hello");
    EXPECT_TRUE(send_text(client, " world"));
    next.wait_for_text("hello world");
    client.finish_writing();
    next.wait_for_end();
    EXPECT_EQ(next.text, "hello world");
    EXPECT_EQ(next.ends.size(), 1u);
    server.close();
  });
}

TEST_P(ReleaseSinkTest, AnEndThatCameBeforeTheNextReaderIsNotLost) {
  GetParam()([](Stream& client, Stream& server) {
    EXPECT_TRUE(client.try_write(bytes_of("hello")));
    client.finish_writing();
    read_and_release(server, "hello");
    ASSERT_TRUE(coroutine::sleep_for(std::chrono::milliseconds(5)));
    TestSink next;
    server.set_read_sink(next);
    next.wait_for_end();
    EXPECT_EQ(next.text, "hello");
    EXPECT_TRUE(send_text(server, "bye"));
    server.finish_writing();
    EXPECT_EQ(read_all(client).value_or("broken"), "bye");
    server.close();
  });
}

TEST_P(ReleaseSinkTest, TheNextReaderIsNotPaused) {
  GetParam()([](Stream& client, Stream& server) {
    EXPECT_TRUE(send_text(client, "hello"));
    TestSink first;
    first.when_bytes = [&](auto) { server.pause_reading(); };
    server.set_read_sink(first);
    first.wait_for_text("hello");
    server.release_read_sink(bytes_of(first.text));
    TestSink next;
    server.set_read_sink(next);
    next.wait_for_text("hello");
    EXPECT_TRUE(send_text(client, " world"));
    next.wait_for_text("hello world");
    server.close();
  });
}

TEST_P(ReleaseSinkTest, AMillionBytesBehindItArriveInOrder) {
  GetParam()([](Stream& client, Stream& server) {
    const std::string text = numbered_text(1'000'000);
    auto writing = coroutine::spawn("write", [&] { return send_text(client, text); });
    TestSink first;
    first.when_bytes = [&](auto) { server.release_read_sink(bytes_of(first.text)); };
    server.set_read_sink(first);
    while (first.text.empty()) ASSERT_TRUE(first.heard.wait(test::soon()));
    EXPECT_EQ(read_exactly(server, 300'000).value_or(""), text.substr(0, 300'000));
    TestSink next;
    server.set_read_sink(next);
    while (next.text.size() < 700'000) ASSERT_TRUE(next.heard.wait(test::soon()));
    EXPECT_TRUE(next.text == text.substr(300'000));
    EXPECT_TRUE(writing.join(test::soon()));
    server.close();
  });
}

TEST_P(ReleaseSinkTest, AStreamThatWasClosedStaysClosed) {
  GetParam()([](Stream& client, Stream& server) {
    TestSink sink;
    sink.when_bytes = [&](auto bytes) {
      server.close();
      server.release_read_sink(bytes);
    };
    server.set_read_sink(sink);
    EXPECT_TRUE(send_text(client, "hello"));
    sink.wait_for_text("hello");
    EXPECT_FALSE(read_text(server));
  });
}

}  // namespace
}  // namespace corolane::net
