// SPDX-License-Identifier: MIT
// TlsStream keeps the promises of a Stream: over the simulated network, in virtual time, and over
// real sockets where the kernel's behaviour matters.
#include "net/tls/detail/tls_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "test/net/tls/tls_world.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::HasSubstr;

// Records its input; answers or closes if the test says so.
class RecordSink final : public ReadSink {
 public:
  void on_bytes(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ++call_count;
    if (closes != nullptr) closes->close();
  }
  void on_end(const Error& reason) override {
    EXPECT_EQ(end, "");
    end = reason.to_string();
  }

  std::string text;
  std::string end;
  int call_count = 0;
  Stream* closes = nullptr;
};

TEST(TlsStreamTest, AnEmptyReadIsThePeersOrderlyEnd) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  EXPECT_TRUE(send_text(*pair->client, "last words"));
  pair->client->finish_writing();
  EXPECT_EQ(read_all(*pair->server).value_or(""), "last words");
  // The other direction still works.
  EXPECT_TRUE(send_text(*pair->server, "heard"));
  pair->server->finish_writing();
  EXPECT_EQ(read_all(*pair->client).value_or(""), "heard");
  EXPECT_FALSE(pair->client->is_closed());
  EXPECT_THAT(pair->client->write_all(bytes_of("more"), soon()),
              fails_with(Code::failed_precondition));
  EXPECT_THAT(pair->client->try_write(bytes_of("more")), fails_with(Code::failed_precondition));
}

TEST(TlsStreamTest, FinishingAtOnceLosesNothing) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  EXPECT_TRUE(pair->client->try_write(bytes_of("not yet sealed")));
  pair->client->finish_writing();
  EXPECT_EQ(read_all(*pair->server).value_or(""), "not yet sealed");
}

TEST(TlsStreamTest, AConnectionClosedWithoutCloseNotifyIsCutOff) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  EXPECT_TRUE(send_text(*pair->client, "half a "));
  pair->client->close();
  EXPECT_EQ(read_exactly(*pair->server, 7).value_or(""), "half a ");
  const auto end = read_text(*pair->server);
  ASSERT_THAT(end, fails_with(Code::unavailable));
  EXPECT_THAT(end.error().message(), HasSubstr("TLS with client:40001: cut off"));
  EXPECT_TRUE(pair->server->is_closed());
  EXPECT_THAT(pair->server->try_write(bytes_of("x")), fails_with(Code::unavailable));
}

TEST(TlsStreamTest, ABrokenConnectionIsReportedToReadersWritersAndSinks) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  RecordSink sink;
  pair->client->set_read_sink(sink);
  auto reading = coroutine::spawn("read", [&] { return read_text(*pair->server); });
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  world.network.reset_all();
  EXPECT_THAT(reading.join(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_THAT(sink.end, HasSubstr("unavailable: TLS with server:1: connection reset"));
}

TEST(TlsStreamTest, TheSinkReceivesEarlierInput) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  EXPECT_TRUE(send_text(*pair->client, "early"));
  pair->client->finish_writing();
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  RecordSink sink;
  pair->server->set_read_sink(sink);
  EXPECT_EQ(sink.text, "");  // Never inside of the call.
  EXPECT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_EQ(sink.text, "early");
  EXPECT_THAT(sink.end, HasSubstr("closed by peer"));
}

TEST(TlsStreamTest, SmallWritesOfATurnAreOneRecord) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  RecordSink sink;
  pair->server->set_read_sink(sink);
  for (int count = 0; count < 10; ++count) {
    EXPECT_TRUE(pair->client->try_write(bytes_of("0123456789")));
  }
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(sink.text.size(), 100u);
  EXPECT_EQ(sink.call_count, 1);
}

TEST(TlsStreamTest, ASinkMayCloseTheStream) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  RecordSink sink;
  sink.closes = pair->server.get();
  pair->server->set_read_sink(sink);
  EXPECT_TRUE(send_text(*pair->client, std::string(100'000, 'x')));
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(sink.call_count, 1);
  EXPECT_EQ(sink.end, "");
}

TEST(TlsStreamTest, ClosingEndsWaitingReaders) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  auto reading = coroutine::spawn("read", [&] { return read_text(*pair->server); });
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  pair->server->close();
  EXPECT_THAT(reading.join(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_THAT(pair->server->write_all(bytes_of("x"), soon()), fails_with(Code::unavailable));
  EXPECT_THAT(pair->server->flush(soon()), fails_with(Code::unavailable));
}

TEST(TlsStreamTest, AReaderThatGivesUpLosesNothing) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  EXPECT_THAT(read_text(*pair->server, Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(send_text(*pair->client, "later"));
  EXPECT_EQ(read_exactly(*pair->server, 5).value_or(""), "later");
}

TEST(TlsStreamTest, ReadsOfOneByteReadEverything) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  EXPECT_TRUE(send_text(*pair->client, "byte"));
  for (const char* const expected : {"b", "y", "t", "e"}) {
    EXPECT_EQ(read_text(*pair->server, soon(), 1).value_or(""), expected);
  }
}

TEST(TlsStreamTest, WritersFeelTheMarkOfTheInnerStream) {
  TlsWorld world;
  auto pair = world.connect({.output_bytes_max = 1000});
  ASSERT_TRUE(pair) << pair;
  const std::string text(200'000, 'x');
  EXPECT_THAT(pair->client->write_all(bytes_of(text), Deadline::after(1s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_THAT(pair->client->try_write(bytes_of("y")), fails_with(Code::resource_exhausted));
  EXPECT_THAT(pair->client->write_all(bytes_of("y"), Deadline::after(1s)),
              fails_with(Code::deadline_exceeded));
  // The bytes stay queued, in order.
  auto writing =
      coroutine::spawn("write", [&] { return pair->client->write_all(bytes_of("z"), soon()); });
  EXPECT_EQ(read_exactly(*pair->server, 200'002).value_or(""), text + "yz");
  EXPECT_TRUE(writing.join(Deadline::never()));
}

TEST(TlsStreamTest, InvalidRecordsBreakTheConnection) {
  TlsWorld world;
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  // Forwards the bytes of both sides, and then injects bytes of its own.
  auto proxy_listener = world.network.listen({.address = "server", .port = 2});
  ASSERT_TRUE(proxy_listener);
  auto connecting = coroutine::spawn(
      "client", [&] { return world.client.connect({.address = "server", .port = 2}, soon()); });
  auto near = (*proxy_listener)->accept(soon());
  auto far = world.network.connect(world.endpoint, soon());
  ASSERT_TRUE(near && far);
  for (int round = 0; round < 2; ++round) {
    auto up = read_text(**near);
    ASSERT_TRUE(up && send_text(**far, *up));
    if (round == 1) break;
    auto down = read_text(**far);
    ASSERT_TRUE(down && send_text(**near, *down));
  }
  auto client = connecting.join(Deadline::never());
  ASSERT_TRUE(client) << client;
  auto server = (*listener)->accept(soon());
  ASSERT_TRUE(server) << server;
  EXPECT_TRUE(send_text(**near, std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x')));
  const auto broken = read_text(**client);
  ASSERT_THAT(broken, fails_with(Code::unavailable));
  EXPECT_THAT(broken.error().message(), HasSubstr("bad record"));
}

TEST(TlsStreamTest, ASinkThatPausesIsGivenNothingUntilItResumes) {
  TlsWorld world;
  auto pair = world.connect({.output_bytes_max = 1000});
  ASSERT_TRUE(pair) << pair;
  RecordSink sink;
  pair->server->set_read_sink(sink);
  pair->server->pause_reading();
  const std::string text(200'000, 'x');
  EXPECT_THAT(pair->client->write_all(bytes_of(text), Deadline::after(1s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(sink.text, "");
  pair->server->resume_reading();
  EXPECT_EQ(sink.text, "");
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(sink.text, text);

  pair->server->pause_reading();
  EXPECT_TRUE(send_text(*pair->client, "more"));
  pair->client->finish_writing();
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(sink.text, text);
  EXPECT_EQ(sink.end, "");
  pair->server->resume_reading();
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(sink.text, text + "more");
  EXPECT_THAT(sink.end, HasSubstr("closed by peer"));
}

TEST(TlsStreamTest, MegabytesArriveOverSocketsWithBackpressure) {
  run_on_real_loop([](RealLoop& real) {
    auto context = load_tls(server_tls());
    TlsNetwork network(real.network, *context);
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    const std::string text = flood();
    EXPECT_THAT(pair->client->write_all(bytes_of(text), Deadline::after(20ms)),
                fails_with(Code::deadline_exceeded));
    EXPECT_THAT(pair->client->try_write(bytes_of("x")), fails_with(Code::resource_exhausted));
    const auto received = read_exactly(*pair->server, text.size());
    ASSERT_TRUE(received) << received;
    EXPECT_TRUE(*received == text);
    EXPECT_TRUE(pair->client->flush(soon()));
    EXPECT_TRUE(send_text(*pair->server, "thanks"));
    EXPECT_EQ(read_exactly(*pair->client, 6).value_or(""), "thanks");
  });
}

TEST(TlsStreamTest, EchoesOverUnixSocketsToo) {
  run_on_real_loop([](RealLoop& real) {
    auto context = load_tls(server_tls());
    TlsNetwork network(real.network, *context, {.server_name = "server"});
    auto pair = make_stream_pair_at({.address = "unix:@corolane-tls-test"}, network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(send_text(*pair->client, "over a file"));
    EXPECT_EQ(read_exactly(*pair->server, 11).value_or(""), "over a file");
  });
}

}  // namespace
}  // namespace corolane::net
