// SPDX-License-Identifier: MIT
#include "framework/telemetry/otlp_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "coroutine/testing/matchers.h"
#include "net/http/gzip.h"
#include "net/testing/certificates.h"
#include "net/testing/network.h"
#include "test/framework/telemetry/fake_collector.h"

namespace corolane::framework {
namespace {

using test::fails_with;
using test::FakeCollector;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

test::CertificateAuthority& collector_authority() {
  static test::CertificateAuthority one("collectors");
  return one;
}

std::unique_ptr<net::TlsContext> tls_context(const net::TlsOptions& options) {
  auto loaded = net::TlsContext::load(options);
  check(loaded.has_value(), "the certificates of the test are right");
  return *std::move(loaded);
}

// A collector that demands a certificate of a node, and has one for "collector".
struct SecureCollector {
  explicit SecureCollector(net::Network& inner) : network(inner, *tls) {}

  static std::unique_ptr<net::TlsContext> server_context() {
    const auto files = collector_authority().issue({.dns_names = {"collector"}});
    return tls_context({.certificate_file = files.certificate_file,
                        .key_file = files.key_file,
                        .ca_file = collector_authority().file(),
                        .needs_peer_certificate = true});
  }

  std::unique_ptr<net::TlsContext> tls = server_context();
  net::TlsNetwork network;
  FakeCollector collector{network, {"collector", 4318}};
};

net::TlsOptions node_tls_files() {
  static const auto files = collector_authority().issue({.dns_names = {"node"}});
  return {.certificate_file = files.certificate_file,
          .key_file = files.key_file,
          .ca_file = collector_authority().file()};
}

std::string failure_of_post(net::Network& network, const std::string& host, net::TlsOptions files) {
  OtlpTransport transport(
      network, {.endpoint = {.host = {host, 4318}, .is_tls = true}, .tls = std::move(files)});
  const auto opened = transport.open("");
  if (!opened) return opened.error().to_string();
  const auto answer = transport.post("/v1/traces", "{}");
  return answer.outcome ? "none" : answer.outcome.error().to_string();
}

TEST(OtlpTransportTest, ACollectorWithTlsGetsTheRequestAndOurCertificate) {
  sim::SimulatedNetwork network;
  SecureCollector secure(network);
  OtlpTransport transport(
      network, {.endpoint = {.host = {"collector", 4318}, .is_tls = true, .path = "/otlp"},
                .tls = node_tls_files()});
  ASSERT_TRUE(transport.open("# The token.\n\nAuthorization: Bearer 6f1d\r\nX-Tenant:a:b \n"));
  EXPECT_TRUE(transport.post("/v1/logs", R"({"a":1})").outcome);
  ASSERT_EQ(secure.collector.requests.size(), 1u);
  const net::HttpRequest& request = secure.collector.requests[0];
  EXPECT_EQ(request.path(), "/otlp/v1/logs");
  EXPECT_EQ(request.header("authorization"), "Bearer 6f1d");
  EXPECT_EQ(request.header("x-tenant"), "a:b");
  EXPECT_EQ(request.header("content-encoding"), "");
  EXPECT_EQ(request.body, R"({"a":1})");
  EXPECT_EQ(request.peer_identity, "node");
}

TEST(OtlpTransportTest, TheNameOfTheCollectorIsVerified) {
  sim::SimulatedNetwork network;
  SecureCollector secure(network);
  network.set_addresses("impostor", {"collector"});
  EXPECT_THAT(failure_of_post(network, "impostor", node_tls_files()),
              AllOf(HasSubstr("unauthenticated"), HasSubstr("node.otlp.tls.ca_file"),
                    HasSubstr("impostor")));
  const test::CertificateAuthority foreign("others");
  net::TlsOptions files = node_tls_files();
  files.ca_file = foreign.file();
  EXPECT_THAT(failure_of_post(network, "collector", files), HasSubstr("node.otlp.tls.ca_file"));
  EXPECT_TRUE(secure.collector.requests.empty());
}

TEST(OtlpTransportTest, AFileThatCannotBeUsedIsNamed) {
  sim::SimulatedNetwork network;
  EXPECT_THAT(failure_of_post(network, "collector", {.ca_file = "/nowhere/ca.pem"}),
              AllOf(HasSubstr("node.otlp.tls"), HasSubstr("/nowhere/ca.pem")));
}

TEST(OtlpTransportTest, ACollectorWithoutTlsIsToldApart) {
  sim::SimulatedNetwork network;
  FakeCollector collector(network, {"collector", 4318});
  EXPECT_THAT(failure_of_post(network, "collector", node_tls_files()),
              AllOf(HasSubstr("unavailable"), HasSubstr("does a collector with TLS listen")));
}

TEST(OtlpTransportTest, HeadersThatAreNoneAreRefusedWithoutShowingThem) {
  sim::SimulatedNetwork network;
  OtlpTransport transport(network, {.endpoint = {.host = {"collector", 4318}}});
  const auto failure = [&](const char* headers) {
    const auto opened = transport.open(headers);
    return opened ? "none" : opened.error().message();
  };
  EXPECT_THAT(failure("X: 1\nBearer 6f1d"),
              AllOf(HasSubstr("node.otlp.headers_file: line 2"), HasSubstr("`Name: value`"),
                    Not(HasSubstr("6f1d"))));
  EXPECT_THAT(failure("content-length: 7"), HasSubstr("line 1 is a header that each request has"));
}

TEST(OtlpTransportTest, GzipIsAnnounced) {
  sim::SimulatedNetwork network;
  FakeCollector collector(network, {"collector", 4318});
  OtlpTransport transport(network, {.endpoint = {.host = {"collector", 4318}}, .gzip = true});
  const std::string body(10'000, 'x');
  EXPECT_TRUE(transport.post("/v1/traces", body).outcome);
  ASSERT_EQ(collector.requests.size(), 1u);
  EXPECT_EQ(collector.requests[0].header("content-encoding"), "gzip");
  EXPECT_LT(collector.requests[0].body.size(), 1'000u);
  std::string content;
  ASSERT_TRUE(net::gunzip(collector.requests[0].body, 20'000, content));
  EXPECT_EQ(content, body);
}

TEST(OtlpTransportTest, ARefusalSaysWhatToDo) {
  sim::SimulatedNetwork network;
  FakeCollector collector(network, {"collector", 4318});
  OtlpTransport transport(network, {.endpoint = {.host = {"collector", 4318}}});
  const auto failure = [&](unsigned status, const char* body) {
    collector.answers = {{.status = status, .body = body}};
    const auto answer = transport.post("/v1/traces", "{}");
    EXPECT_FALSE(answer.may_pass) << status;
    return answer.outcome ? "none" : answer.outcome.error().message();
  };
  EXPECT_THAT(failure(401, "no\n"),
              AllOf(HasSubstr("status 401, \"no\""), HasSubstr("node.otlp.headers_file"),
                    HasSubstr("`Authorization: Bearer TOKEN`")));
  EXPECT_THAT(failure(404, ""), HasSubstr("takes nothing at /v1/traces"));
  EXPECT_THAT(failure(415, ""), HasSubstr("let it take JSON"));
  EXPECT_THAT(failure(400, std::string(1'000, 'x').c_str()), HasSubstr("xxx"));
}

TEST(OtlpTransportTest, HeadersAndFilesChangeTogether) {
  sim::SimulatedNetwork network;
  FakeCollector collector(network, {"collector", 4318});
  OtlpTransport transport(network, {.endpoint = {.host = {"collector", 4318}}});
  ASSERT_TRUE(transport.open("X-Token: old"));
  EXPECT_FALSE(transport.prepare_change("no header"));
  transport.change();
  EXPECT_TRUE(transport.post("/v1/traces", "{}").outcome);
  ASSERT_TRUE(transport.prepare_change("X-Token: new"));
  EXPECT_TRUE(transport.post("/v1/traces", "{}").outcome);
  transport.change();
  EXPECT_TRUE(transport.post("/v1/traces", "{}").outcome);
  ASSERT_EQ(collector.requests.size(), 3u);
  EXPECT_EQ(collector.requests[0].header("x-token"), "old");
  EXPECT_EQ(collector.requests[1].header("x-token"), "old");
  EXPECT_EQ(collector.requests[2].header("x-token"), "new");
}

}  // namespace
}  // namespace corolane::framework
