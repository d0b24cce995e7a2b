// SPDX-License-Identifier: MIT
#include "framework/node/node_config.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "config/section.h"
#include "framework/admin/admin.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;

// The values that fields allow, in words.
constexpr std::string_view name_words = "1 to 63 letters, digits, '-', '_' and '.'";
constexpr std::string_view address_words = "address:port";
constexpr std::string_view server_words = "host:port";

bool is_name(std::string_view text) {
  constexpr std::size_t length_max = 63;
  return !text.empty() && text.size() <= length_max && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

Result<void> check_name(const std::string& name) {
  if (is_name(name)) return {};
  return Error(Code::invalid_argument, "a name is " + std::string(name_words));
}

Result<void> check_listen(const std::string& text) {
  auto endpoint = net::parse_endpoint(text);
  if (!endpoint) return endpoint.error();
  return {};
}

// Over the admin pages other machines could see and change everything, so they must authenticate,
// over TLS.
Result<void> check_admin(const NodeConfig& config) {
  auto endpoint = net::parse_endpoint(config.admin);
  if (!endpoint) return endpoint.error();
  if (is_local(*endpoint)) return {};
  if (config.admin_token_file.empty()) {
    return Error(Code::invalid_argument,
                 config.admin +
                     " is no loopback address: set node.admin_token_file to a file with a "
                     "token, or use 127.0.0.1 and reach it through a tunnel");
  }
  if (!config.tls.certificate_file.empty()) return {};
  return Error(Code::invalid_argument,
               config.admin +
                   " is no loopback address: without TLS others can read the token, so set "
                   "node.tls.certificate_file and node.tls.key_file as well");
}

// Empty: it does not listen.
Result<void> check_http(const std::string& text) {
  return text.empty() ? Result<void>() : check_listen(text);
}

Result<void> check_server(const std::string& text) {
  auto host = net::parse_host_port(text);
  if (!host) return host.error();
  return {};
}

Result<void> check_label(const std::string& text) {
  return text.empty() ? Result<void>() : check_name(text);
}

// Puts the key before the message of the error.
Error at_key(std::string_view key, const Error& error) {
  return Error(error.code(), std::string(key) + ": " + error.message());
}

Error invalid(std::string message) { return Error(Code::invalid_argument, std::move(message)); }

Result<void> check_tls(const TlsConfig& tls) {
  if (!tls.certificate_file.empty() || (tls.key_file.empty() && tls.ca_file.empty())) return {};
  return invalid("a key or a CA is of no use without a certificate");
}

Result<void> check_store(const NodeConfig& config) {
  if (config.cluster.directory == DirectoryKind::local || config.store.kind == StoreKind::redis) {
    return {};
  }
  return invalid(
      "the nodes of a cluster need a shared store, or one would not find what another has written: "
      "use redis, or node.cluster.directory: local for a single node");
}

// A node trusts other nodes, so those on other machines must prove that they are nodes.
Result<void> check_cluster(const ClusterConfig& cluster) {
  auto endpoint = net::parse_endpoint(cluster.listen);
  if (!endpoint) return endpoint.error();
  const bool is_alone = cluster.directory == DirectoryKind::local;
  if (is_alone || is_local(*endpoint) || !cluster.shared_key_file.empty()) return {};
  return invalid(cluster.listen +
                 " is no loopback address, and without a key any process that reaches it counts "
                 "as a node: make a key with `openssl rand -hex 32 > cluster.key`, and set "
                 "node.cluster.shared_key_file to its path on each node");
}

// Refuses to record a node that could not be replayed.
Result<void> check_record(const NodeConfig& config) {
  if (config.record.file.empty()) return {};
  if (config.shard_count() != 1) {
    return invalid("a node that is recorded has one shard, and this one has " +
                   std::to_string(config.shard_count()) + "; set node.shards to 1");
  }
  if (!config.tls.certificate_file.empty() || !config.cluster.ca_file.empty()) {
    return invalid(
        "TLS traffic differs in each run; remove the files of node.tls and node.cluster.ca_file, "
        "and terminate TLS in front of the node");
  }
  return {};
}

}  // namespace

void describe(config::Section& section, StacksConfig& value) {
  section.field("count_max", value.count_max,
                "The most coroutines that may exist at once; further calls are refused.",
                config::between(1'000, 10'000'000));
}

void describe(config::Section& section, RpcConfig& value) {
  section.field(
      "connections_max", value.connections_max,
      "The most client connections, over all shards; HTTP connections have the same limit again.",
      config::at_least(1), config::live);
  section.field("address_share", value.address_share,
                "The percentage of these connections, and of a shard's calls, that one address "
                "(for IPv6 a /64) may have; 100, for nodes behind a proxy, turns the limit off.",
                config::between(1, 100), config::live);
  section.field(
      "calls_per_connection_max", value.calls_per_connection_max,
      "The most calls that one connection may have running; a change applies to new connections.",
      config::at_least(1), config::live);
  section.field("request_size_max", value.request_size_max,
                "Largest request that a client may send.",
                config::between(config::kibibyte, 64 * config::mebibyte));
}

void describe(config::Section& section, TlsConfig& value) {
  section.field("certificate_file", value.certificate_file,
                "The certificate of the node, PEM, with its chain; empty: no TLS.");
  section.field("key_file", value.key_file, "Its key, PEM without a pass phrase.");
  section.field(
      "ca_file", value.ca_file,
      "The CA that signs the certificates of clients, PEM; empty: clients are not asked for one.");
  section.field("needs_client_certificate", value.needs_client_certificate,
                "Whether a client without a certificate is refused.");
  section.rule({"certificate_file", "key_file", "ca_file"}, [&value] { return check_tls(value); });
}

void describe(config::Section& section, ObjectsConfig& value) {
  section.field("mailbox_max", value.mailbox_max,
                "The most calls of one object that may run and wait: this many that may change it, "
                "and as many again that only read.",
                config::at_least(1), config::live);
  section.field("idle_time_max", value.idle_time_max,
                "How long an object stays in memory without calls.", config::at_least(1s),
                config::live);
  section.field("memory_max", value.memory_max,
                "The approximate memory of all objects; above it idle objects are evicted earlier.",
                config::at_least(config::mebibyte), config::live);
}

void describe(config::Section& section, StoreConfig& value) {
  section.field(
      "kind", value.kind,
      "memory loses everything at exit; sqlite is a local file; redis is for several nodes.");
  section.field("file", value.file, "The file of sqlite; it is created when it does not exist.");
  section.field("server", value.server, "The address of redis, as host:port.",
                config::where(check_server, server_words));
  section.field("user", value.user, "The user name for redis; empty for its default user.");
  section.field("password", value.password, "The password for redis; empty for none.",
                config::secret);
  section.field("database", value.database, "The number of the database of redis.",
                config::at_most(65'535));
}

void describe(config::Section& section, ClusterConfig& value) {
  section.field("name", value.name,
                "The name of the cluster; its keys in etcd and redis begin with it.",
                config::where(check_name, name_words));
  section.field("directory", value.directory,
                "The directory of nodes: local is for a single node, etcd for several.");
  section.field("servers", value.servers, "The addresses of etcd, as host:port each.",
                config::where(check_server, server_words));
  section.field("user", value.user, "The user name for etcd; empty for none.");
  section.field("password", value.password, "The password for etcd.", config::secret);
  section.field("ca_file", value.ca_file,
                "The CA that signs the certificate of etcd, PEM; empty: no TLS.");
  section.field("listen", value.listen,
                "Where other nodes call the first shard; the other shards have the ports that "
                "follow; port 0 picks free ports.",
                config::where(check_listen, address_words));
  section.field("advertise", value.advertise,
                "The host by which other nodes reach this one; empty: as in `listen`.");
  section.field("shared_key_file", value.shared_key_file,
                "A file with a key that all nodes of the cluster share; empty: any process that "
                "reaches `listen` counts as a node, so that must be a loopback address.");
  section.field("weight", value.weight,
                "The node's share of the objects, relative to the other nodes.",
                config::between(1, 10'000));
  section.field("zone", value.zone, "The zone of the node, for types that require one.",
                config::where(check_label, "a name or nothing"));
  section.field("roles", value.roles, "The roles of the node, for types that require one.",
                config::where(check_name, name_words));
}

void describe(config::Section& section, RecordConfig& value) {
  section.field("file", value.file,
                "The file to which the node's input is recorded, for --replay; empty: none.");
  section.field(
      "size_max", value.size_max,
      "The disk space reserved for it at the start; when it is full the node runs on unrecorded.",
      config::between(config::mebibyte, 64 * config::gibibyte));
}

void describe(config::Section& section, CrashConfig& value) {
  section.field(
      "folder", value.folder,
      "The folder for reports of a node that dies of a signal: task, object, stacks; empty: none.");
  section.field("reports_max", value.reports_max,
                "The number of reports of this node that are kept, the newest ones.",
                config::between(1, 10'000));
}

std::size_t NodeConfig::shard_count() const {
  if (shards != 0) return shards;
  return std::max(1U, std::thread::hardware_concurrency());
}

void describe(config::Section& section, NodeConfig& value) {
  section.field("name", value.name, "The node's name in logs and metrics.",
                config::where(check_name, name_words));
  section.field("listen", value.listen,
                "Where clients connect, as address:port; port 0 picks a free port.",
                config::where(check_listen, address_words));
  section.field(
      "admin", value.admin,
      "Address of the admin pages: loopback or unix:/path; any other needs a token and TLS.",
      config::where(check_listen, address_words));
  section.field(
      "admin_token_file", value.admin_token_file,
      "File with the token that the admin pages ask for, 16 bytes or more; empty: no token.");
  section.field("http", value.http,
                "Where the services are served over HTTP (JSON, Connect protocol), as "
                "address:port; empty: nowhere.",
                config::where(check_http, "address:port or nothing"));
  section.field("public_methods_only", value.public_methods_only,
                "Whether clients may call only methods with the option `public`; false is for "
                "development on a loopback address.");
  section.field("stop_time_max", value.stop_time_max,
                "How long running calls may take to finish when the node stops.",
                config::at_most(1h), config::live);
  section.field("log_level", value.log_level, "The lowest level that is logged.", config::live);
  section.field(
      "stall_time_min", value.stall_time_min,
      "A loop that does not turn for this long is reported, with the task at fault; 0s: never.",
      config::at_most(1h));
  section.field("stacks", value.stacks, "The stacks that coroutines run on.");
  section.field("rpc", value.rpc, "Limits for clients.");
  section.field("tracing", value.tracing, "Spans of calls, for a collector.");
  section.field("call_log", value.call_log, "Which calls are logged.");
  section.field("tls", value.tls, "TLS for clients, version 1.2 or later.");
  section.field("shards", value.shards,
                "Threads, each with connections and objects of its own; 0: one for each core.",
                config::at_most(256));
  section.field("objects", value.objects, "The objects that live here.");
  section.field("store", value.store, "Where objects are stored.");
  section.field("cluster", value.cluster, "The other nodes.");
  section.field("record", value.record, "A recording of this node, for a replay.");
  section.field("crash", value.crash, "Crash reports.");
  section.rule({"admin", "admin_token_file"}, [&value] { return check_admin(value); });
  section.rule({"store.kind", "cluster.directory"}, [&value] { return check_store(value); });
  section.rule({"cluster.listen", "cluster.shared_key_file"},
               [&value] { return check_cluster(value.cluster); });
  section.rule({"record.file"}, [&value] { return check_record(value); });
}

Result<NodeEndpoints> validate(const NodeConfig& config) {
  if (auto name = check_name(config.name); !name) return at_key("node.name", name.error());
  auto listen = net::parse_endpoint(config.listen);
  if (!listen) return at_key("node.listen", listen.error());
  if (auto tls = check_tls(config.tls); !tls) return at_key("node.tls", tls.error());
  if (auto admin = check_admin(config); !admin) return at_key("node.admin", admin.error());
  if (auto collector = check_collector(config.tracing.collector); !collector) {
    return at_key("node.tracing.collector", collector.error());
  }
  if (auto http = check_http(config.http); !http) return at_key("node.http", http.error());
  if (auto store = check_store(config); !store) return at_key("node.store.kind", store.error());
  if (auto cluster = check_cluster(config.cluster); !cluster) {
    return at_key("node.cluster.listen", cluster.error());
  }
  if (auto record = check_record(config); !record) {
    return at_key("node.record.file", record.error());
  }
  NodeEndpoints endpoints{.listen = *std::move(listen),
                          .admin = *net::parse_endpoint(config.admin)};
  if (!config.http.empty()) endpoints.http = *net::parse_endpoint(config.http);
  return endpoints;
}

}  // namespace corolane::framework
