// SPDX-License-Identifier: MIT
// One port for three kinds of connections, in virtual time. A kind is known by its first word; the
// real ones are tested in first_bytes_test.cc and, with their servers, at the end. A word and a
// space are HTTP as well, so words come before it.
#include "net/one_port/one_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/http/http_server.h"
#include "test/net/test_sink.h"
#include "test/net/tls/tls_world.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;

const Endpoint place{.address = "server", .port = 1};

OnePort::Kind word(std::string name, std::string refusal = "") {
  const auto match = [name](std::span<const std::byte> bytes) {
    const std::string_view text = net::text_of(bytes);
    if (text.starts_with(name)) return Match::yes;
    return std::string_view(name).starts_with(text) ? Match::maybe : Match::no;
  };
  return {.name = name, .match = match, .refusal = std::move(refusal)};
}

class OnePortTest : public testing::Test {
 protected:
  std::unique_ptr<Listener> listen(std::string_view kind, const Endpoint& endpoint = place) {
    auto listener = port_.network(kind).listen(endpoint);
    EXPECT_TRUE(listener) << listener;
    return *std::move(listener);
  }
  // A client that says `text` at once.
  std::unique_ptr<Stream> connect(std::string_view text, const std::string& address = "10.0.0.1") {
    network_.set_client_address(address);
    auto stream = network_.connect(place, Deadline::after(1s));
    EXPECT_TRUE(stream) << stream;
    if (!text.empty()) {
      EXPECT_TRUE((*stream)->try_write(bytes_of(text)));
    }
    return *std::move(stream);
  }
  static std::unique_ptr<Stream> accept(Listener& listener, Duration patience = 100ms) {
    auto stream = listener.accept(Deadline::after(patience));
    return stream ? *std::move(stream) : nullptr;
  }
  static void settle() { ASSERT_TRUE(coroutine::sleep_for(100ms)); }
  // Suspends until the peer ends.
  static std::string last_words(Stream& stream) { return read_all(stream).value_or("broken"); }
  const OnePort::Statistics& statistics() const { return port_.statistics(); }

  sim::SimulatedNetwork network_;
  ConnectionBound connections_{{.count_max = 100}};
  std::vector<std::string> refused_;
  OnePort port_{network_,
                connections_,
                {word("apple"), word("apricot", "no apricots here"), word("banana")},
                {.on_refused = [this](const OnePort::Kind& kind, const Endpoint& peer) {
                  refused_.push_back(kind.name + " from " + peer.address);
                }}};
};

TEST_F(OnePortTest, EachKindReachesItsListenerWithItsFirstBytes) {
  auto apples = listen("apple");
  auto bananas = listen("banana");
  const auto one = connect("banana split");
  const auto two = connect("apple pie");
  const auto split = accept(*bananas);
  const auto pie = accept(*apples);
  ASSERT_TRUE(split && pie);
  EXPECT_EQ(read_exactly(*split, 12).value_or(""), "banana split");
  EXPECT_EQ(read_exactly(*pie, 9).value_or(""), "apple pie");
  EXPECT_EQ(pie->peer_endpoint().address, "10.0.0.1");
  EXPECT_EQ(statistics().kinds[0].accepted_count, 1u);
  EXPECT_EQ(statistics().kinds[2].accepted_count, 1u);
}

TEST_F(OnePortTest, ServersGetTheStreamOfTheInnerNetworkItself) {
  auto apples = listen("apple");
  const auto client = connect("apple");
  const auto server = accept(*apples);
  ASSERT_TRUE(server);
  network_.reset(*server);  // Takes only streams of its own.
  EXPECT_TRUE(server->is_closed());
}

TEST_F(OnePortTest, KindsAreToldApartByteByByte) {
  auto apples = listen("apple");
  auto apricots = listen("apricot");
  for (const std::string_view text : {"apple", "apricot"}) {
    auto& listener = text == "apple" ? *apples : *apricots;
    const auto client = connect("");
    for (const char& letter : text) {
      EXPECT_FALSE(accept(listener, 10ms)) << "before " << letter;
      EXPECT_TRUE(client->try_write(bytes_of({&letter, 1})));
    }
    EXPECT_TRUE(client->try_write(bytes_of(" and more")));
    const auto server = accept(listener);
    ASSERT_TRUE(server) << text;
    EXPECT_EQ(read_exactly(*server, text.size() + 9).value_or(""), std::string(text) + " and more");
  }
}

TEST_F(OnePortTest, ASinkIsGivenTheFirstBytesAndTheEndBehindThem) {
  auto apples = listen("apple");
  const auto client = connect("apple");
  client->finish_writing();
  const auto server = accept(*apples);
  ASSERT_TRUE(server);
  TestSink sink;
  server->set_read_sink(sink);
  sink.wait_for_end();
  EXPECT_EQ(sink.text, "apple");
  EXPECT_TRUE(server->try_write(bytes_of("thanks")));
  server->finish_writing();
  EXPECT_EQ(last_words(*client), "thanks");
}

TEST_F(OnePortTest, MegabytesBehindTheFirstBytesArriveInOrder) {
  auto apples = listen("apple");
  const std::string text = "apple" + numbered_text(3'000'000);
  const auto client = connect("");
  auto writing = coroutine::spawn(
      "write", [&] { return client->write_all(bytes_of(text), Deadline::after(1min)); });
  const auto server = accept(*apples);
  ASSERT_TRUE(server);
  settle();
  EXPECT_FALSE(writing.is_done()) << "the peer feels that nobody reads";
  EXPECT_TRUE(read_exactly(*server, text.size()).value_or("") == text);
  EXPECT_TRUE(writing.join(Deadline::after(1min)));
}

TEST_F(OnePortTest, APeerThatSaysTooLittleIsClosedInTime) {
  auto apples = listen("apple");
  const auto silent = connect("");
  const auto hesitant = connect("app");
  const auto leaving = connect("app");
  const auto gone = connect("");
  const TimePoint start = now();
  leaving->finish_writing();
  gone->close();
  EXPECT_EQ(last_words(*leaving), "");
  EXPECT_LT(now() - start, 10ms);
  EXPECT_EQ(statistics().undecided_count, 2u);
  EXPECT_EQ(last_words(*silent), "");
  EXPECT_EQ(last_words(*hesitant), "");
  EXPECT_LT(now() - start, 5s + 10ms);
  EXPECT_GT(now() - start, 5s - 10ms);
  settle();
  EXPECT_EQ(statistics().silent_count, 4u);
  EXPECT_EQ(statistics().undecided_count, 0u);
  EXPECT_EQ(connections_.statistics().count, 0u);
}

TEST_F(OnePortTest, APeerThatDribblesGetsNoMoreTimeThanASilentOne) {
  auto apples = listen("apple");
  const auto client = connect("");
  const TimePoint start = now();
  for (const char* letter : {"a", "p", "p", "l"}) {
    EXPECT_TRUE(client->try_write(bytes_of(letter)));
    ASSERT_TRUE(coroutine::sleep_for(1200ms));
  }
  EXPECT_EQ(last_words(*client), "");
  EXPECT_LT(now() - start, 5s + 10ms);
}

TEST_F(OnePortTest, UnknownFirstBytesAreClosedAndCounted) {
  auto apples = listen("apple");
  const auto client = connect("cherry");
  EXPECT_EQ(last_words(*client), "");
  EXPECT_EQ(statistics().unknown_count, 1u);
  EXPECT_FALSE(accept(*apples));
}

TEST_F(OnePortTest, AKindWithoutAListenerIsToldWhy) {
  auto apples = listen("apple");
  const auto client = connect("apricot jam");
  const TimePoint start = now();
  EXPECT_EQ(last_words(*client), "no apricots here");
  client->finish_writing();
  EXPECT_EQ(last_words(*connect("banana")), "");
  EXPECT_LT(now() - start, 20ms) << "it need not wait";
  EXPECT_THAT(refused_, testing::ElementsAre("apricot from 10.0.0.1", "banana from 10.0.0.1"));
  EXPECT_EQ(statistics().kinds[1].refused_count, 1u);
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(statistics().undecided_count, 0u) << "also of the peer that does not leave";
}

TEST_F(OnePortTest, APeerThatHasFinishedIsToldWhyAllTheSame) {
  auto apples = listen("apple");
  const auto client = connect("apricot jam");
  client->finish_writing();
  EXPECT_EQ(last_words(*client), "no apricots here");
}

TEST_F(OnePortTest, ManySilentPeersOfOneAddressKeepNobodyElseOut) {
  network_.set_latency(100us);  // None has left before the last one comes.
  auto apples = listen("apple");
  std::vector<std::unique_ptr<Stream>> silent;
  for (int i = 0; i < 10'000; ++i) silent.push_back(connect("", "10.6.6.6"));
  EXPECT_GT(statistics().placeless_count, 9'000u);
  for (int i = 0; i < 20; ++i) {
    const auto client = connect("apple", "10.0.1." + std::to_string(i));
    EXPECT_TRUE(accept(*apples)) << i;
  }
  EXPECT_LT(statistics().undecided_count, 200u);
  silent.clear();
  ASSERT_TRUE(coroutine::sleep_for(6s));
  EXPECT_EQ(connections_.statistics().count, 0u);
}

// Its server finds no place for it either, and can say so.
TEST_F(OnePortTest, AConnectionWithoutAPlaceReachesItsServer) {
  auto apples = listen("apple");
  std::vector<std::unique_ptr<Stream>> held;
  for (int i = 0; i < 50; ++i) held.push_back(connect(""));
  const auto client = connect("apple");
  EXPECT_TRUE(accept(*apples));
  EXPECT_FALSE(connections_.take({.address = "10.0.0.1", .port = 1}));
}

TEST_F(OnePortTest, NoMoreConnectionsWaitForAServerThanThereArePlacesAndAFew) {
  auto apples = listen("apple");
  std::vector<std::unique_ptr<Stream>> held;
  for (int i = 0; i < 500; ++i) held.push_back(connect("apple"));
  settle();
  std::size_t accepted_count = 0;
  while (accept(*apples)) ++accepted_count;
  EXPECT_EQ(accepted_count, 50u + 64u);
  EXPECT_EQ(statistics().placeless_count, 500u - accepted_count);
}

TEST_F(OnePortTest, AConnectionHasItsPlaceUntilItIsAccepted) {
  auto apples = listen("apple");
  const auto client = connect("apple");
  settle();
  EXPECT_EQ(connections_.statistics().count, 1u);
  EXPECT_EQ(statistics().undecided_count, 0u);
  EXPECT_TRUE(accept(*apples));
  EXPECT_EQ(connections_.statistics().count, 0u);
}

TEST_F(OnePortTest, TheLastListenerClosesThePortAndUndecidedConnections) {
  auto apples = listen("apple");
  auto bananas = listen("banana");
  const auto undecided = connect("");
  const auto waiting = connect("apple");
  settle();
  apples->close();
  EXPECT_EQ(last_words(*waiting), "");
  EXPECT_THAT(apples->accept(Deadline::after(1s)), fails_with(Code::unavailable));
  EXPECT_EQ(last_words(*connect("apple")), "") << "nobody listens for apples any more";
  const auto still = connect("banana");
  EXPECT_TRUE(accept(*bananas));

  auto accepting = coroutine::spawn("accept", [&] { return bananas->accept(Deadline::never()); });
  settle();
  EXPECT_FALSE(undecided->is_closed());
  bananas->close();
  EXPECT_THAT(accepting.join(Deadline::after(1s)), fails_with(Code::unavailable));
  EXPECT_EQ(last_words(*undecided), "");
  EXPECT_FALSE(network_.connect(place, Deadline::after(1s)));
  EXPECT_TRUE(listen("apple")) << "the place is free again";
}

TEST_F(OnePortTest, OneKindListensOnceAtAPlaceAndAnywhereElse) {
  auto apples = listen("apple");
  EXPECT_THAT(port_.network("apple").listen(place), fails_with(Code::already_exists));
  auto elsewhere = listen("apple", {.address = "server", .port = 2});
  auto bananas = listen("banana", {.address = "server", .port = 2});
  const auto client = connect("banana");
  EXPECT_FALSE(accept(*bananas)) << "a banana at the other port is no banana here";
}

TEST_F(OnePortTest, AListenerIsDestroyedWhileConnectionsWait) {
  auto apples = listen("apple");
  const auto undecided = connect("");
  const auto waiting = connect("apple");
  settle();
  apples.reset();
  EXPECT_EQ(last_words(*waiting), "");
  EXPECT_EQ(last_words(*undecided), "");
  EXPECT_EQ(connections_.statistics().count, 0u);
}

TEST_F(OnePortTest, AnAcceptGivesUpAtItsDeadlineAndLosesNothing) {
  auto apples = listen("apple");
  EXPECT_THAT(apples->accept(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  const auto client = connect("apple");
  EXPECT_TRUE(accept(*apples));
}

TEST_F(OnePortTest, ClientsConnectThroughAnyOfItsNetworks) {
  auto apples = listen("apple");
  auto client = port_.network("banana").connect(place, Deadline::after(1s));
  ASSERT_TRUE(client) << client;
  EXPECT_TRUE((*client)->try_write(bytes_of("apple")));
  EXPECT_TRUE(accept(*apples));
}

// A port as a node has it: TLS outside, and inside of it what is told apart once more.
class OnePortInsideTlsTest : public testing::Test {
 protected:
  std::string fetch(Network& network) {
    const auto answer =
        fetch_http(network, {"server", 1}, {.target = "/", .headers = {}}, Deadline::after(1s));
    return answer ? std::to_string(answer->status) + " " + answer->body : answer.error().message();
  }

  TlsWorld world_;
  ConnectionBound connections_{{.count_max = 100}};
  OnePort outside_{
      world_.network,
      connections_,
      {{.name = "tls", .match = match_tls, .refusal = refusal_by_tls()},
       {.name = "http", .match = match_http, .refusal = refusal_by_http("use https://")}}};
  TlsNetwork secure_{outside_.network("tls"), *world_.server_context};
  OnePort inside_{
      secure_, connections_, {word("apple", "no apples"), {.name = "http", .match = match_http}}};
};

TEST_F(OnePortInsideTlsTest, KindsAreToldApartInsideAndPlainOnesAreRefused) {
  HttpServer http(inside_.network("http"), [](const HttpRequest& request) {
    return HttpResponse{.body = request.peer_identity.empty() ? "hello" : "hello, known"};
  });
  ASSERT_TRUE(http.listen(world_.endpoint));
  auto apples = inside_.network("apple").listen(world_.endpoint);
  ASSERT_TRUE(apples) << apples;

  EXPECT_EQ(fetch(world_.client), "200 hello");
  EXPECT_EQ(fetch(world_.network), "400 use https://\n");
  auto client = world_.client.connect(world_.endpoint, Deadline::after(1s));
  ASSERT_TRUE(client) << client;
  EXPECT_TRUE((*client)->try_write(bytes_of("apple pie")));
  auto server = (*apples)->accept(Deadline::after(1s));
  ASSERT_TRUE(server) << server;
  EXPECT_TRUE((*server)->statistics().is_encrypted);
  EXPECT_EQ(read_exactly(**server, 9).value_or(""), "apple pie");
}

TEST_F(OnePortInsideTlsTest, TheIdentityOfACertificateStaysWithTheStream) {
  auto context = load_tls(named_client_tls());
  TlsNetwork known(world_.network, *context);
  auto apples = inside_.network("apple").listen(world_.endpoint);
  ASSERT_TRUE(apples) << apples;
  auto client = known.connect(world_.endpoint, Deadline::after(1s));
  ASSERT_TRUE(client) << client;
  EXPECT_TRUE((*client)->try_write(bytes_of("apple")));
  auto server = (*apples)->accept(Deadline::after(1s));
  ASSERT_TRUE(server) << server;
  EXPECT_EQ((*server)->peer_identity(), "client-1");
}

TEST_F(OnePortInsideTlsTest, ATlsClientAtAPlainPortGetsAnAlert) {
  auto plain = outside_.network("http").listen(world_.endpoint);
  ASSERT_TRUE(plain) << plain;
  const auto client = world_.client.connect(world_.endpoint, Deadline::after(1s));
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message(), HasSubstr("handshake failure"));
  EXPECT_EQ(outside_.statistics().kinds[0].refused_count, 1u);
}

TEST(OnePortSocketsTest, ServersShareAPortOfSockets) {
  test::run_on_real_loop([](test::RealLoop& real) {
    ConnectionBound connections({.count_max = 100});
    OnePort port(real.network, connections, {word("apple"), {.name = "http", .match = match_http}});
    HttpServer http(port.network("http"),
                    [](const HttpRequest&) { return HttpResponse{.body = "hello"}; });
    const auto endpoint = http.listen({"127.0.0.1", 0});
    ASSERT_TRUE(endpoint) << endpoint;
    auto apples = port.network("apple").listen(*endpoint);
    ASSERT_TRUE(apples) << apples;
    for (int i = 0; i < 20; ++i) {
      const auto answer =
          fetch_http(real.network, {"127.0.0.1", endpoint->port}, {.target = "/"}, test::soon());
      ASSERT_TRUE(answer) << answer.error();
      EXPECT_EQ(answer->body, "hello");
      auto client = real.network.connect(*endpoint, test::soon());
      ASSERT_TRUE(client) << client;
      EXPECT_TRUE(send_text(**client, "apple pie"));
      auto server = (*apples)->accept(test::soon());
      ASSERT_TRUE(server) << server;
      EXPECT_EQ(read_exactly(**server, 9).value_or(""), "apple pie");
    }
  });
}

}  // namespace
}  // namespace corolane::net
