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
  EXPECT_EQ(endpoints->clients, (net::Endpoint{"127.0.0.1", 8460}));
  EXPECT_EQ(endpoints->admin, (net::Endpoint{"127.0.0.1", 8461}));
}

TEST(NodeConfigTest, EveryKeyCanBeSet) {
  const auto loaded = load(
      "name: lobby-1\n"
      "admin: {listen: '[::1]:2', token_file: t, look_token_file: l}\n"
      "stop_time_max: 1500ms\n"
      "log_level: debug\n"
      "stacks: {count_max: 5000, methods: [{method: a.B/C, size: 128KiB}]}\n"
      "clients: {listen: '0.0.0.0:1', connections_max: 3, address_share: 20,"
      " calls_per_connection_max: 4, request_size_max: 2KiB, reflection: false,"
      " login: {certificate: true, jwt_keys_file: k, jwt_issuer: i, jwt_audience: a},"
      " tls: {certificate_file: a, key_file: b, ca_file: c, needs_client_certificate: true}}\n"
      "otlp: {endpoint: 'https://otel.local', headers_file: h, gzip: true, traces: false,"
      " metrics: true, metrics_interval: 30s, logs: true, tls: {ca_file: o}}\n"
      "tracing: {sample_ratio: 0.5}\n"
      "call_log: {errors: false, slow_after: 2s, one_in: 7, lines_per_second_max: 9}\n");
  ASSERT_TRUE(loaded) << loaded.error();
  const NodeConfig& config = loaded->value;
  EXPECT_EQ(config.name, "lobby-1");
  EXPECT_EQ(config.clients.listen, "0.0.0.0:1");
  EXPECT_EQ(config.admin.listen, "[::1]:2");
  EXPECT_EQ(config.admin.token_file, "t");
  EXPECT_EQ(config.admin.look_token_file, "l");
  EXPECT_FALSE(config.clients.reflection);
  EXPECT_FALSE(config.clients.login.anonymous);
  EXPECT_TRUE(config.clients.login.certificate);
  EXPECT_EQ(config.clients.login.jwt_keys_file, "k");
  EXPECT_EQ(config.clients.login.jwt_issuer, "i");
  EXPECT_EQ(config.clients.login.jwt_audience, "a");
  EXPECT_EQ(config.stop_time_max, 1500ms);
  EXPECT_EQ(config.log_level, LogLevel::debug);
  EXPECT_EQ(config.stacks.count_max, 5000);
  ASSERT_EQ(config.stacks.methods.size(), 1u);
  EXPECT_EQ(config.stacks.methods[0].method, "a.B/C");
  EXPECT_EQ(config.stacks.methods[0].size.count, 128u * 1024);
  EXPECT_EQ(config.clients.connections_max, 3);
  EXPECT_EQ(config.clients.address_share, 20);
  EXPECT_EQ(config.clients.calls_per_connection_max, 4);
  EXPECT_EQ(config.clients.request_size_max, 2 * config::kibibyte);
  EXPECT_EQ(config.otlp.endpoint, "https://otel.local");
  EXPECT_EQ(config.otlp.headers_file, "h");
  EXPECT_TRUE(config.otlp.gzip);
  EXPECT_FALSE(config.otlp.traces);
  EXPECT_TRUE(config.otlp.metrics);
  EXPECT_EQ(config.otlp.metrics_interval, 30s);
  EXPECT_TRUE(config.otlp.logs);
  EXPECT_EQ(config.otlp.tls.ca_file, "o");
  EXPECT_EQ(config.tracing.sample_ratio, 0.5);
  EXPECT_FALSE(config.call_log.errors);
  EXPECT_EQ(config.call_log.slow_after, 2s);
  EXPECT_EQ(config.call_log.one_in, 7);
  EXPECT_EQ(config.call_log.lines_per_second_max, 9);
  EXPECT_EQ(config.clients.tls.certificate_file, "a");
  EXPECT_EQ(config.clients.tls.key_file, "b");
  EXPECT_EQ(config.clients.tls.ca_file, "c");
  EXPECT_TRUE(config.clients.tls.needs_client_certificate);
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
      "node:\n  name: my node\n  clients:\n    listen: nowhere\n    http: everywhere\n"
      "  admin: {listen: 0.0.0.0}\n  stop_time_max: 2h\n",
      "node.yaml", {.settings = {"node.clients.listen=nowhere"}});
  ASSERT_FALSE(loaded);
  const std::string& message = loaded.error().message();
  EXPECT_THAT(message, HasSubstr("node.yaml:2: node.name: a name is 1 to 63 letters"));
  EXPECT_THAT(message, HasSubstr("--set node.clients.listen: "));
  EXPECT_THAT(message, HasSubstr("\nnode.yaml:6: node.admin.listen: "));
  EXPECT_THAT(message, HasSubstr("\nnode.yaml:7: node.stop_time_max: "));
  EXPECT_THAT(message, HasSubstr("\nnode.yaml:5: node.clients.http: \"everywhere\" says neither "
                                 "whether nor where: `on` is the port of node.clients.listen"));
}

TEST(NodeConfigTest, ARedisClusterHasOneDatabase) {
  const auto load = [](const std::string& redis) {
    return config::load_text<WholeConfig>("node:\n  store:\n    redis: " + redis + "\n",
                                          "node.yaml");
  };
  EXPECT_TRUE(load("{cluster: true}"));
  EXPECT_TRUE(load("{database: 3}"));
  const auto wrong = load("{cluster: true, database: 3}");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(), HasSubstr("a Redis Cluster has the database 0 only"));
}

TEST(NodeConfigTest, ExposedAdminPagesNeedATokenAndTls) {
  const auto load = [](const std::string& more) {
    return config::load_text<WholeConfig>("node:\n  admin:\n    listen: 0.0.0.0:8461\n" + more,
                                          "node.yaml");
  };
  const std::string token = "    token_file: token\n";
  const std::string tls = "    tls: {certificate_file: a.pem, key_file: b.pem}\n";
  EXPECT_THAT(load("").error().message(),
              HasSubstr("node.yaml:3: node.admin.listen: 0.0.0.0:8461 is no loopback address: set "
                        "node.admin.token_file"));
  EXPECT_THAT(load(tls).error().message(), HasSubstr("set node.admin.token_file"));
  EXPECT_THAT(load(token).error().message(), HasSubstr("set node.admin.tls.certificate_file"));
  EXPECT_TRUE(load(token + tls));
  EXPECT_TRUE(config::load_text<WholeConfig>("node:\n  admin: {listen: unix:/run/admin.sock}\n",
                                             "node.yaml"));
}

TEST(NodeConfigTest, ExposedNodesNeedAKey) {
  const std::string cluster = "store: {kind: redis}\ncluster: {directory: etcd, listen: ";
  for (const char* far : {"'0.0.0.0:9000'", "'[::]:9000'", "'10.1.0.7:9000'"}) {
    const auto refused = load(cluster + far + "}\n");
    ASSERT_FALSE(refused) << far;
    EXPECT_THAT(refused.error().message(), HasSubstr("cluster.listen: "));
    EXPECT_THAT(refused.error().message(), HasSubstr("openssl rand -hex 32"));
    EXPECT_TRUE(load(cluster + far + ", shared_key_file: cluster.key}\n"));
    EXPECT_TRUE(load(cluster + far + ", tls: {ca_file: a, certificate_file: b, key_file: c}}\n"));
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

TEST(NodeConfigTest, AKeyOfAnOlderVersionNamesTheNewOne) {
  const std::pair<const char*, const char*> moved[] = {
      {"listen: 127.0.0.1:1", "node.listen has moved: set node.clients.listen"},
      {"http: 127.0.0.1:1", "node.http has moved: set node.clients.http"},
      {"admin: 127.0.0.1:1", "node.admin has moved: set node.admin.listen"},
      {"admin_token_file: t", "node.admin_token_file has moved: set node.admin.token_file"},
      {"public_methods_only: false", "set node.clients.public_methods_only"},
      {"tracing: {collector: c:1}", "node.tracing.collector has moved: set node.otlp.endpoint"},
      {"rpc: {connections_max: 4}", "node.rpc has moved: set the same keys in node.clients"},
      {"tls: {key_file: k}", "set the same keys in node.clients.tls"},
      {"cluster: {servers: [a:1]}", "set node.cluster.etcd.servers"},
      {"cluster: {password: x}", "set node.cluster.etcd.password_file, to a file that holds it"},
      {"cluster: {ca_file: x}", "set node.cluster.etcd.tls.ca_file"},
      {"store: {server: a:1}", "set node.store.redis.servers"},
      {"store: {redis: {server: a:1}}", "set node.store.redis.servers, as a list"},
      {"store: {password: x}", "set node.store.redis.password_file, to a file that holds it"},
  };
  for (const auto& [line, words] : moved) {
    const auto refused =
        config::load_text<WholeConfig>("node:\n  " + std::string(line) + "\n", "node.yaml");
    ASSERT_FALSE(refused) << line;
    EXPECT_THAT(refused.error().message(), HasSubstr("node.yaml:2: node.")) << line;
    EXPECT_THAT(refused.error().message(), HasSubstr(words)) << line;
    EXPECT_THAT(refused.error().message(), testing::Not(HasSubstr("did you mean"))) << line;
  }
  const auto set = config::load_text<WholeConfig>(
      "", "", {.settings = {"node.tls.key_file=k", "node.admin=127.0.0.1:1"}});
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message(), HasSubstr("--set node.tls.key_file: node.tls has moved"));
  EXPECT_THAT(set.error().message(), HasSubstr("--set node.admin: node.admin has moved"));
}

TEST(NodeConfigTest, ALoginIsSetUpCompletely) {
  EXPECT_THAT(load("clients: {login: {certificate: true}}\n").error().message(),
              HasSubstr("node.clients.tls.ca_file says which to trust"));
  EXPECT_THAT(load("clients: {login: {jwt_issuer: x}}\n").error().message(),
              HasSubstr("of no use without jwt_keys_file"));
  EXPECT_THAT(load("cluster: {tls: {ca_file: x}}\n").error().message(),
              HasSubstr("set node.cluster.tls.certificate_file"));
  EXPECT_THAT(load("store: {redis: {tls: {certificate_file: x, key_file: y}}}\n").error().message(),
              HasSubstr("without a ca_file"));
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
       {"stacks: {count_max: 10}", "stacks: {methods: [{method: Move, size: 32KiB}]}",
        "stacks: {methods: [{method: a.B/C, size: 1KiB}]}",
        "stacks: {methods: [{method: a.B/C, size: 1GiB}]}", "rpc: {connections_max: 0}",
        "rpc: {address_share: 0}", "rpc: {address_share: 101}", "rpc: {request_size_max: 1GiB}",
        "stop_time_max: 2h"}) {
    EXPECT_FALSE(load(text)) << text;
  }
}

}  // namespace
}  // namespace corolane::framework
