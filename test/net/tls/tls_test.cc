// SPDX-License-Identifier: MIT
// Which peers are admitted, and with which certificates: contexts, handshakes and their failures,
// in virtual time.
#include "net/tls/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "test/net/tls/tls_world.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::soon;
using testing::AllOf;
using testing::HasSubstr;

std::string failure_of(const TlsOptions& options) {
  const auto context = TlsContext::load(options);
  return context ? "none" : context.error().to_string();
}

std::string failure_of_connect(TlsWorldOptions options) {
  TlsWorld world(std::move(options));
  const auto pair = world.connect();
  return pair ? "none" : pair.error().to_string();
}

TEST(TlsContextTest, NamesTheMissingFile) {
  TlsOptions options = server_tls();
  options.certificate_file = "/nowhere/node.pem";
  EXPECT_THAT(failure_of(options),
              AllOf(HasSubstr("not_found"), HasSubstr("certificate /nowhere/node.pem")));
  options = server_tls();
  options.key_file = "/nowhere/node.key";
  EXPECT_THAT(failure_of(options), HasSubstr("key /nowhere/node.key: No such file"));
  options = server_tls();
  options.ca_file = "/nowhere/ca.pem";
  EXPECT_THAT(failure_of(options), HasSubstr("CA /nowhere/ca.pem: No such file"));
}

TEST(TlsContextTest, ExplainsWhatIsWrongWithAFile) {
  const std::string text = cluster_authority().write("text", "no certificate\n");
  TlsOptions options = server_tls();
  options.certificate_file = text;
  EXPECT_THAT(failure_of(options), HasSubstr(text + ": no certificate in PEM"));
  options = server_tls();
  options.key_file = text;
  EXPECT_THAT(failure_of(options), HasSubstr(text + ": no key in PEM without a pass phrase"));
  options = server_tls();
  options.ca_file = text;
  EXPECT_THAT(failure_of(options), HasSubstr(text + ": no certificate in PEM"));
}

TEST(TlsContextTest, AKeyOfAnotherCertificateIsRefused) {
  TlsOptions options = server_tls();
  options.key_file = named_client_tls().key_file;
  EXPECT_THAT(failure_of(options),
              HasSubstr(options.key_file + ": does not belong to the certificate " +
                        options.certificate_file));
}

TEST(TlsContextTest, ACertificateAndItsKeyComeTogether) {
  TlsOptions options = server_tls();
  options.key_file.clear();
  EXPECT_THAT(failure_of(options), HasSubstr("the file of its key is missing"));
  options = server_tls();
  options.certificate_file.clear();
  EXPECT_THAT(failure_of(options), HasSubstr("the file of its certificate is missing"));
}

TEST(TlsContextTest, ACertificateThatIsNotValidTodayIsRefused) {
  const auto late = cluster_authority().issue({.dns_names = {"server"}, .valid_until = -1h});
  EXPECT_THAT(failure_of(tls_options(late)),
              AllOf(HasSubstr(late.certificate_file + ": expired on 20"), HasSubstr("renew it")));
  const auto early = cluster_authority().issue({.dns_names = {"server"}, .valid_from = 1h});
  EXPECT_THAT(failure_of(tls_options(early)),
              HasSubstr(early.certificate_file + ": not valid before 20"));
}

TEST(TlsContextTest, RequiringPeerCertificatesNeedsACa) {
  TlsOptions options = server_tls();
  options.ca_file.clear();
  options.needs_peer_certificate = true;
  EXPECT_THAT(failure_of(options), HasSubstr("needs the file of the CA"));
}

TEST(TlsNetworkTest, CarriesBytesBothWays) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  EXPECT_TRUE(send_text(*pair->client, "ping"));
  EXPECT_EQ(read_exactly(*pair->server, 4).value_or(""), "ping");
  EXPECT_TRUE(send_text(*pair->server, "pong"));
  EXPECT_EQ(read_exactly(*pair->client, 4).value_or(""), "pong");
  EXPECT_EQ(world.server.statistics().opened_count, 1u);
  EXPECT_EQ(world.client.statistics().opened_count, 1u);
}

TEST(TlsNetworkTest, AServerNeedsACertificate) {
  TlsWorld world({.server = client_tls()});
  EXPECT_THAT(world.server.listen(world.endpoint), fails_with(Code::failed_precondition));
}

TEST(TlsNetworkTest, AHandshakeTakesTwoRoundTripsWithTheConnection) {
  TlsWorld world({.network = {.latency = 10ms}});
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  const TimePoint start = now();
  EXPECT_TRUE(world.client.connect(world.endpoint, soon()));
  EXPECT_EQ(now() - start, 40ms);
}

TEST(TlsNetworkTest, WorksSplitAtEveryByte) {
  TlsWorldOptions options{.server = server_tls(), .client = named_client_tls()};
  options.server.needs_peer_certificate = true;
  options.network.piece_bytes_max = 1;
  TlsWorld world(std::move(options));
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  EXPECT_TRUE(send_text(*pair->client, "one by one"));
  EXPECT_EQ(read_exactly(*pair->server, 10).value_or(""), "one by one");
}

TEST(TlsNetworkTest, BothEndsKnowTheIdentityOfTheOther) {
  TlsWorld world({.client = named_client_tls()});
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  EXPECT_EQ(pair->client->peer_identity(), "server");
  EXPECT_EQ(pair->server->peer_identity(), "client-1");
}

TEST(TlsNetworkTest, AnIdentityIsAUriOrACommonNameToo) {
  const auto uri = cluster_authority().issue(
      {.common_name = "ignored", .uris = {"spiffe://game/node/7"}, .addresses = {"10.0.0.7"}});
  TlsWorld first({.client = tls_options(uri)});
  auto pair = first.connect();
  ASSERT_TRUE(pair) << pair;
  EXPECT_EQ(pair->server->peer_identity(), "spiffe://game/node/7");

  const auto common = cluster_authority().issue({.common_name = "node 8"});
  TlsWorld second({.client = tls_options(common)});
  auto other = second.connect();
  ASSERT_TRUE(other) << other;
  EXPECT_EQ(other->server->peer_identity(), "node 8");
}

TEST(TlsNetworkTest, AClientWithoutACertificateIsAdmittedWithoutIdentityUnlessOneIsNeeded) {
  TlsWorld world;
  auto pair = world.connect();
  ASSERT_TRUE(pair) << pair;
  EXPECT_EQ(pair->server->peer_identity(), "");
}

TEST(TlsNetworkTest, AServerOfAnotherCaIsRefused) {
  TlsWorldOptions options{.client = {.ca_file = foreign_authority().file()}};
  EXPECT_THAT(failure_of_connect(std::move(options)),
              AllOf(HasSubstr("unauthenticated"), HasSubstr("TLS with server:1"),
                    HasSubstr("unable to get local issuer certificate")));
}

TEST(TlsNetworkTest, AServerOfAnotherNameIsRefused) {
  const auto files = cluster_authority().issue({.dns_names = {"elsewhere"}});
  EXPECT_THAT(failure_of_connect({.server = tls_options(files)}),
              AllOf(HasSubstr("unauthenticated"),
                    HasSubstr("it is for \"elsewhere\", not for \"server\"")));
}

TEST(TlsNetworkTest, TheServerIsToldThatItsCertificateIsRefused) {
  TlsWorld world({.client = {.ca_file = foreign_authority().file()}});
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  EXPECT_FALSE(world.client.connect(world.endpoint, soon()));
  EXPECT_THAT((*listener)->accept(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(world.server.statistics().failed_count, 1u);
  EXPECT_THAT(world.server.statistics().last_failure,
              HasSubstr("the peer refuses our certificate: unknown CA"));
}

TEST(TlsNetworkTest, AnotherServerNameMayBeExpected) {
  const auto files = cluster_authority().issue({.dns_names = {"*.cluster.game"}});
  TlsWorld world(
      {.server = tls_options(files), .client_network = {.server_name = "a.cluster.game"}});
  EXPECT_TRUE(world.connect());
  TlsWorld other({.server = tls_options(files), .client_network = {.server_name = "cluster.game"}});
  EXPECT_THAT(other.connect(), fails_with(Code::unauthenticated));
}

TEST(TlsNetworkTest, ConnectToVerifiesTheNameAndNotTheAddress) {
  TlsWorld world;
  world.network.set_addresses("server", {"10.0.0.1"});
  world.network.set_addresses("alias", {"10.0.0.1", "10.0.0.2"});
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  EXPECT_TRUE(connect_to(world.client, {"server", 1}, soon()));
  const auto refused = connect_to(world.client, {"alias", 1}, soon());
  ASSERT_THAT(refused, fails_with(Code::unauthenticated));
  EXPECT_THAT(refused.error().message(), HasSubstr("not for \"alias\""));
}

TEST(TlsNetworkTest, AnAddressIsVerifiedAsAnAddress) {
  TlsWorld world;
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  EXPECT_TRUE(world.client.connect({.address = "127.0.0.1", .port = 1}, soon()));
  EXPECT_THAT(world.client.connect({.address = "127.0.0.2", .port = 1}, soon()),
              fails_with(Code::unauthenticated));
}

TEST(TlsNetworkTest, AClientWithoutACertificateIsRefusedIfOneIsNeeded) {
  TlsWorldOptions options{.server = server_tls()};
  options.server.needs_peer_certificate = true;
  TlsWorld world(std::move(options));
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  // TLS 1.3: a client completes before the server has seen its certificate.
  auto client = world.client.connect(world.endpoint, soon());
  ASSERT_TRUE(client) << client;
  const auto answer = read_text(**client);
  ASSERT_THAT(answer, fails_with(Code::unauthenticated));
  EXPECT_THAT(answer.error().message(), HasSubstr("demands a certificate of ours"));
  EXPECT_THAT(world.server.statistics().last_failure, HasSubstr("shows no certificate"));
}

TEST(TlsNetworkTest, AClientOfAnotherCaIsRefused) {
  const auto files = foreign_authority().issue({.dns_names = {"client-1"}});
  TlsWorldOptions options{.client = tls_options(files)};
  TlsWorld world(std::move(options));
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  auto client = world.client.connect(world.endpoint, soon());
  ASSERT_TRUE(client) << client;
  const auto answer = read_text(**client);
  ASSERT_THAT(answer, fails_with(Code::unauthenticated));
  EXPECT_THAT(answer.error().message(), HasSubstr("refuses our certificate"));
  EXPECT_THAT(world.server.statistics().last_failure, HasSubstr("it is for \"client-1\""));
}

TEST(TlsNetworkTest, GarbageInsteadOfAHelloIsRefused) {
  TlsWorld world;
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  for (const char* const garbage :
       {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "\x16\x03\x01\xff\xff....", "SSH-2.0-"}) {
    auto stream = world.network.connect(world.endpoint, soon());
    ASSERT_TRUE(stream);
    EXPECT_TRUE(send_text(**stream, garbage));
    EXPECT_TRUE(read_all(**stream));  // An alert, and the end.
  }
  EXPECT_EQ(world.server.statistics().failed_count, 3u);
  EXPECT_TRUE(world.client.connect(world.endpoint, soon()));
}

TEST(TlsNetworkTest, AServerThatDoesNotSpeakTlsIsNamedInTheError) {
  TlsWorld world;
  auto listener = world.network.listen(world.endpoint);
  ASSERT_TRUE(listener);
  auto server = coroutine::spawn("server", [&]() -> Result<void> {
    auto stream = (*listener)->accept(soon());
    if (!stream) return stream.error();
    if (auto sent = send_text(**stream, "220 mail.example ESMTP\r\n"); !sent) return sent;
    return coroutine::sleep_for(1s);
  });
  const auto stream = world.client.connect(world.endpoint, soon());
  ASSERT_THAT(stream, fails_with(Code::unavailable));
  EXPECT_THAT(stream.error().message(), HasSubstr("TLS with server:1: TLS: "));
  EXPECT_TRUE(server.join(Deadline::never()));
}

TEST(TlsNetworkTest, ASilentServerIsGivenUpInTime) {
  TlsWorld world({.client_network = {.handshake_time_max = 3s}});
  auto listener = world.network.listen(world.endpoint);
  ASSERT_TRUE(listener);
  const TimePoint start = now();
  EXPECT_THAT(world.client.connect(world.endpoint, Deadline::after(10s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 3s + 2ms);
  EXPECT_THAT(world.client.connect(world.endpoint, Deadline::after(1s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 4s + 2ms);
}

TEST(TlsNetworkTest, AClientThatEndsInTheMiddleOfItsHandshakeIsForgotten) {
  TlsWorld world;
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  auto stream = world.network.connect(world.endpoint, soon());
  ASSERT_TRUE(stream);
  EXPECT_TRUE(send_text(**stream, "\x16\x03\x01"));
  (*stream)->close();
  EXPECT_TRUE(world.client.connect(world.endpoint, soon()));
  EXPECT_THAT(world.server.statistics().last_failure, HasSubstr("during the handshake: closed"));
}

TEST(TlsNetworkTest, SlowHandshakesDelayNoOtherPeer) {
  TlsWorld world;
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  std::vector<std::unique_ptr<Stream>> slow;
  for (int count = 0; count < 20; ++count) {
    auto stream = world.network.connect(world.endpoint, soon());
    ASSERT_TRUE(stream);
    slow.push_back(*std::move(stream));
  }
  const TimePoint start = now();
  auto client = world.client.connect(world.endpoint, soon());
  EXPECT_TRUE(client);
  EXPECT_TRUE((*listener)->accept(soon()));
  EXPECT_LE(now() - start, 10ms);
  // After five seconds they are gone.
  for (const auto& stream : slow) EXPECT_TRUE(read_all(*stream));
  EXPECT_LE(now() - start, 6100ms);
  EXPECT_EQ(world.server.statistics().failed_count, 20u);
}

TEST(TlsNetworkTest, ANewHandshakeTakesThePlaceOfTheOldestOne) {
  TlsWorld world({.server_network = {.handshake_count_max = 2}});
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  auto first = world.network.connect(world.endpoint, soon());
  auto second = world.network.connect(world.endpoint, soon());
  ASSERT_TRUE(first && second);
  const TimePoint start = now();
  auto client = world.client.connect(world.endpoint, soon());
  EXPECT_TRUE(client) << client;
  EXPECT_LE(now() - start, 100ms);
  EXPECT_TRUE((*listener)->accept(soon()));
  // The first handshake is dropped, the second one still has time.
  EXPECT_TRUE(read_all(**first));
  EXPECT_LE(now() - start, 100ms);
  EXPECT_FALSE((*second)->is_closed());
  EXPECT_EQ(world.server.statistics().failed_count, 1u);
  EXPECT_THAT(world.server.statistics().last_failure, HasSubstr("in favour of a newer handshake"));
}

TEST(TlsNetworkTest, AFloodOfHalfOpenHandshakesBlocksNoOtherPeer) {
  TlsWorld world({.server_network = {.handshake_count_max = 16}});
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  std::vector<std::unique_ptr<Stream>> flood;
  for (int round = 0; round < 20; ++round) {
    for (int count = 0; count < 5; ++count) {
      auto stream = world.network.connect(world.endpoint, soon());
      ASSERT_TRUE(stream);
      flood.push_back(*std::move(stream));
    }
    EXPECT_TRUE(world.client.connect(world.endpoint, soon())) << round;
    EXPECT_TRUE((*listener)->accept(soon()));
  }
}

TEST(TlsNetworkTest, UnacceptedStreamsCountAsHandshakes) {
  TlsWorld world({.server_network = {.handshake_count_max = 1}});
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  auto first = world.client.connect(world.endpoint, soon());
  EXPECT_TRUE(first);
  EXPECT_TRUE(coroutine::sleep_for(10ms));  // The server is done a little later.
  EXPECT_THAT(world.client.connect(world.endpoint, Deadline::after(1s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_TRUE((*listener)->accept(soon()));
}

TEST(TlsNetworkTest, ClosingTheListenerEndsWaitingCalls) {
  TlsWorld world;
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  auto slow = world.network.connect(world.endpoint, soon());
  ASSERT_TRUE(slow);
  auto accepting = coroutine::spawn("accept", [&] { return (*listener)->accept(soon()); });
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  (*listener)->close();
  EXPECT_THAT(accepting.join(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_THAT(read_all(**slow), testing::Eq(Result<std::string>(std::string())));
  EXPECT_THAT((*listener)->accept(soon()), fails_with(Code::unavailable));
}

TEST(TlsNetworkTest, ReloadingServesNewConnectionsAndKeepsTheOld) {
  const auto files = cluster_authority().issue({.dns_names = {"server", "first"}});
  TlsWorld world({.server = tls_options(files)});
  auto old = world.connect();
  ASSERT_TRUE(old) << old;

  cluster_authority().issue_into(files, {.dns_names = {"second", "server"}});
  ASSERT_TRUE(world.server_context->reload());
  auto fresh = world.connect();
  ASSERT_TRUE(fresh) << fresh;
  EXPECT_EQ(fresh->client->peer_identity(), "second");
  EXPECT_EQ(old->client->peer_identity(), "server");
  EXPECT_TRUE(send_text(*old->client, "still here"));
  EXPECT_EQ(read_exactly(*old->server, 10).value_or(""), "still here");
}

TEST(TlsNetworkTest, AReloadThatFailsChangesNothing) {
  const auto files = cluster_authority().issue({.dns_names = {"server"}});
  TlsWorld world({.server = tls_options(files)});
  std::filesystem::copy_file(named_client_tls().key_file, files.key_file,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(world.server_context->reload(), fails_with(Code::invalid_argument));
  EXPECT_TRUE(world.connect());
}

TEST(TlsNetworkTest, AListenerUsesReloadedFiles) {
  const auto files = cluster_authority().issue({.dns_names = {"server"}});
  TlsWorld world({.server = tls_options(files)});
  auto listener = world.server.listen(world.endpoint);
  ASSERT_TRUE(listener);
  cluster_authority().issue_into(files, {.dns_names = {"second", "server"}});
  ASSERT_TRUE(world.server_context->reload());
  auto client = world.client.connect(world.endpoint, soon());
  ASSERT_TRUE(client);
  EXPECT_EQ((*client)->peer_identity(), "second");
}

TEST(TlsNetworkTest, CancellingAConnectEndsIt) {
  TlsWorld world;
  auto listener = world.network.listen(world.endpoint);
  ASSERT_TRUE(listener);
  auto connecting = coroutine::spawn("connect", [&]() -> Result<void> {
    auto stream = world.client.connect(world.endpoint, soon());
    if (!stream) return stream.error();
    return {};
  });
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  connecting.cancel();
  EXPECT_THAT(connecting.join(Deadline::never()), fails_with(Code::cancelled));
}

}  // namespace
}  // namespace corolane::net
