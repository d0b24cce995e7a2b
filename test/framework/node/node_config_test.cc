// SPDX-License-Identifier: MIT
#include "framework/node/node_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "config/loader.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Result<config::Loaded<NodeConfig>> load(std::string_view text) {
  return config::load_text<NodeConfig>(text, "node.yaml");
}

TEST(NodeConfigTest, TheDefaultIsValid) {
  const auto endpoints = validate(NodeConfig());
  ASSERT_TRUE(endpoints) << endpoints;
  EXPECT_EQ(endpoints->listen, (net::Endpoint{"127.0.0.1", 8460}));
  EXPECT_EQ(endpoints->admin, (net::Endpoint{"127.0.0.1", 8461}));
}

TEST(NodeConfigTest, EveryKeyCanBeSet) {
  const auto loaded = load(
      "name: lobby-1\n"
      "listen: 0.0.0.0:1\n"
      "admin: '[::1]:2'\n"
      "stop_time_max: 1500ms\n"
      "log_level: debug\n"
      "stacks: {count_max: 5000}\n"
      "rpc: {connections_max: 3, address_share: 20, calls_per_connection_max: 4,"
      " request_size_max: 2KiB}\n"
      "tracing: {collector: 'otel.local:4318', sample_ratio: 0.5}\n"
      "call_log: {errors: false, slow_after: 2s, one_in: 7, lines_per_second_max: 9}\n"
      "tls: {certificate_file: a, key_file: b, ca_file: c, needs_client_certificate: true}\n");
  ASSERT_TRUE(loaded) << loaded.error();
  const NodeConfig& config = loaded->value;
  EXPECT_EQ(config.name, "lobby-1");
  EXPECT_EQ(config.listen, "0.0.0.0:1");
  EXPECT_EQ(config.admin, "[::1]:2");
  EXPECT_EQ(config.stop_time_max, 1500ms);
  EXPECT_EQ(config.log_level, LogLevel::debug);
  EXPECT_EQ(config.stacks.count_max, 5000);
  EXPECT_EQ(config.rpc.connections_max, 3);
  EXPECT_EQ(config.rpc.address_share, 20);
  EXPECT_EQ(config.rpc.calls_per_connection_max, 4);
  EXPECT_EQ(config.rpc.request_size_max, 2 * config::kibibyte);
  EXPECT_EQ(config.tracing.collector, "otel.local:4318");
  EXPECT_EQ(config.tracing.sample_ratio, 0.5);
  EXPECT_FALSE(config.call_log.errors);
  EXPECT_EQ(config.call_log.slow_after, 2s);
  EXPECT_EQ(config.call_log.one_in, 7);
  EXPECT_EQ(config.call_log.lines_per_second_max, 9);
  EXPECT_EQ(config.tls.certificate_file, "a");
  EXPECT_EQ(config.tls.key_file, "b");
  EXPECT_EQ(config.tls.ca_file, "c");
  EXPECT_TRUE(config.tls.needs_client_certificate);
}

// A configuration as a program has it: the node is one section of several.
struct WholeConfig {
  NodeConfig node;
};

void describe(config::Section& section, WholeConfig& value) {
  section.field("node", value.node, "The node.");
}

TEST(NodeConfigTest, EveryWrongValueIsReportedWithItsOriginAndKey) {
  const auto loaded = config::load_text<WholeConfig>(
      "node:\n  name: my node\n  listen: nowhere\n\n  admin: 0.0.0.0\n"
      "  stop_time_max: 2h\n  http: everywhere\n",
      "node.yaml", {.settings = {"node.listen=nowhere"}});
  ASSERT_FALSE(loaded);
  const std::string& message = loaded.error().message();
  EXPECT_THAT(message, HasSubstr("node.yaml:2: node.name: a name is 1 to 63 letters"));
  EXPECT_THAT(message, HasSubstr("--set node.listen: "));
  EXPECT_THAT(message, HasSubstr("\nnode.yaml:5: node.admin: "));
  EXPECT_THAT(message, HasSubstr("\nnode.yaml:6: node.stop_time_max: "));
  EXPECT_THAT(message, HasSubstr("\nnode.yaml:7: node.http: "));
}

TEST(NodeConfigTest, ExposedAdminPagesNeedATokenAndTls) {
  const auto load = [](const std::string& more) {
    return config::load_text<WholeConfig>("node:\n  admin: 0.0.0.0:8461\n" + more, "node.yaml");
  };
  const std::string token = "  admin_token_file: token\n";
  const std::string tls = "  tls: {certificate_file: a.pem, key_file: b.pem}\n";
  EXPECT_THAT(load("").error().message(),
              HasSubstr("node.yaml:2: node.admin: 0.0.0.0:8461 is no loopback address: set "
                        "node.admin_token_file"));
  EXPECT_THAT(load(tls).error().message(), HasSubstr("set node.admin_token_file"));
  EXPECT_THAT(load(token).error().message(), HasSubstr("set node.tls.certificate_file"));
  EXPECT_TRUE(load(token + tls));
  EXPECT_TRUE(
      config::load_text<WholeConfig>("node:\n  admin: unix:/run/admin.sock\n", "node.yaml"));
}

TEST(NodeConfigTest, ExposedNodesNeedAKey) {
  const std::string cluster = "store: {kind: redis}\ncluster: {directory: etcd, listen: ";
  for (const char* far : {"'0.0.0.0:9000'", "'[::]:9000'", "'10.1.0.7:9000'"}) {
    const auto refused = load(cluster + far + "}\n");
    ASSERT_FALSE(refused) << far;
    EXPECT_THAT(refused.error().message(), HasSubstr("cluster.listen: "));
    EXPECT_THAT(refused.error().message(), HasSubstr("openssl rand -hex 32"));
    EXPECT_TRUE(load(cluster + far + ", shared_key_file: cluster.key}\n"));
    EXPECT_TRUE(load(std::string("cluster: {listen: ") + far + "}\n")) << "nobody listens there";
  }
  for (const char* near : {"'127.0.0.1:9000'", "'[::1]:9000'", "'unix:/run/node.sock'"}) {
    EXPECT_TRUE(load(cluster + near + "}\n")) << near;
  }
  NodeConfig filled;
  filled.cluster.directory = DirectoryKind::etcd;
  filled.store.kind = StoreKind::redis;
  filled.cluster.listen = "0.0.0.0:9000";
  const auto endpoints = validate(filled);
  ASSERT_FALSE(endpoints);
  EXPECT_THAT(endpoints.error().message(), HasSubstr("node.cluster.listen: 0.0.0.0:9000 is no"));
}

TEST(NodeConfigTest, ANameFitsIntoLogsLabelsAndLines) {
  NodeConfig config;
  for (const char* good : {"a", "Lobby_1.eu-west", "0"}) {
    config.name = good;
    EXPECT_TRUE(validate(config)) << good;
  }
  for (const std::string& bad : {std::string(), std::string("a b"), std::string("a\"b"),
                                 std::string("a\nb"), std::string(64, 'a')}) {
    config.name = bad;
    EXPECT_FALSE(validate(config)) << bad;
  }
}

TEST(NodeConfigTest, NonsensicalLimitsAreRefused) {
  for (const char* text :
       {"stacks: {count_max: 10}", "rpc: {connections_max: 0}", "rpc: {address_share: 0}",
        "rpc: {address_share: 101}", "rpc: {request_size_max: 1GiB}", "stop_time_max: 2h"}) {
    EXPECT_FALSE(load(text)) << text;
  }
}

}  // namespace
}  // namespace corolane::framework
