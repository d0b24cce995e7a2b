// SPDX-License-Identifier: MIT
#include "framework/node/node_config.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
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

Error invalid(std::string message) { return Error(Code::invalid_argument, std::move(message)); }

bool is_name(std::string_view text) {
  constexpr std::size_t length_max = 63;
  return !text.empty() && text.size() <= length_max && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

Result<void> check_name(const std::string& name) {
  if (is_name(name)) return {};
  return invalid("a name is " + std::string(name_words));
}

Result<void> check_listen(const std::string& text) {
  auto endpoint = net::parse_endpoint(text);
  if (!endpoint) return endpoint.error();
  return {};
}

Result<void> check_tls(const TlsConfig& tls) {
  if (!tls.certificate_file.empty() || (tls.key_file.empty() && tls.ca_file.empty())) return {};
  return invalid("a key or a CA is of no use without a certificate");
}

Result<void> check_peer_tls(const PeerTlsConfig& tls) {
  if (tls.certificate_file.empty() != tls.key_file.empty()) {
    return invalid("a certificate and its key are set together");
  }
  if (tls.ca_file.empty() && !tls.certificate_file.empty()) {
    return invalid(
        "without a ca_file the connection has no TLS, so the certificate is never shown");
  }
  return {};
}

// Over the admin pages other machines could see and change everything, so they must authenticate,
// over TLS.
Result<void> check_admin(const AdminConfig& admin) {
  auto endpoint = net::parse_endpoint(admin.listen);
  if (!endpoint) return endpoint.error();
  if (is_local(*endpoint)) return {};
  if (admin.token_file.empty() && admin.look_token_file.empty()) {
    return invalid(admin.listen +
                   " is no loopback address: set node.admin.token_file to a file with a token, or "
                   "use 127.0.0.1 and reach it through a tunnel");
  }
  if (!admin.tls.certificate_file.empty()) return {};
  return invalid(admin.listen +
                 " is no loopback address: without TLS others can read the token, so set "
                 "node.admin.tls.certificate_file and node.admin.tls.key_file as well");
}

bool is_off(const std::string& http) { return http.empty() || http == "off"; }

Result<void> check_http(const std::string& text) {
  if (is_off(text) || text == "on" || check_listen(text)) return {};
  return invalid(
      '"' + text +
      "\" says neither whether nor where: `on` is the port of node.clients.listen, `off` "
      "is nowhere, and 127.0.0.1:8462 or the like is a port of its own");
}

// An origin is what browsers send: a scheme and a host, without a path.
Result<void> check_origin(const std::string& text) {
  const std::size_t scheme_end = text.find("://");
  const bool is_origin = scheme_end != std::string::npos && scheme_end > 0 &&
                         scheme_end + 3 < text.size() &&
                         text.find('/', scheme_end + 3) == std::string::npos;
  if (text == "*" || is_origin) return {};
  return invalid("an origin is a scheme and a host, such as https://game.example, or *; not \"" +
                 text + "\"");
}

Result<void> check_server(const std::string& text) {
  auto host = net::parse_host_port(text);
  if (!host) return host.error();
  return {};
}

Result<void> check_redis(const RedisConfig& redis) {
  if (!redis.cluster || redis.database == 0) return {};
  return invalid("a Redis Cluster has the database 0 only");
}

Result<void> check_partition_count(const std::uint32_t& count) {
  if (is_partition_count(count)) return {};
  return Error(Code::invalid_argument, "not a power of two between " +
                                           std::to_string(partition_count_min) + " and " +
                                           std::to_string(partition_count_max));
}

Result<void> check_label(const std::string& text) {
  return text.empty() ? Result<void>() : check_name(text);
}

// Puts the key before the message of the error.
Error at_key(std::string_view key, const Error& error) {
  return Error(error.code(), std::string(key) + ": " + error.message());
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
  if (!cluster.tls.ca_file.empty() && cluster.tls.certificate_file.empty()) {
    return invalid(
        "with node.cluster.tls.ca_file each node shows a certificate: set "
        "node.cluster.tls.certificate_file and node.cluster.tls.key_file as well");
  }
  const bool is_alone = cluster.directory == DirectoryKind::local;
  const bool is_proven = !cluster.shared_key_file.empty() || !cluster.tls.ca_file.empty();
  if (is_alone || is_local(*endpoint) || is_proven) return {};
  return invalid(cluster.listen +
                 " is no loopback address, and without a key any process that reaches it counts "
                 "as a node: make a key with `openssl rand -hex 32 > cluster.key`, and set "
                 "node.cluster.shared_key_file to its path on each node, or give each node a "
                 "certificate in node.cluster.tls");
}

Result<void> check_login(const ClientsConfig& clients) {
  const LoginConfig& login = clients.login;
  if (login.certificate && clients.tls.ca_file.empty()) {
    return invalid(
        "clients show certificates only when node.clients.tls.ca_file says which to "
        "trust");
  }
  const bool has_rules = !login.jwt_issuer.empty() || !login.jwt_audience.empty();
  if (login.jwt_keys_file.empty() && has_rules) {
    return invalid("an issuer or an audience is of no use without jwt_keys_file");
  }
  return {};
}

Result<void> check_method_name(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash != std::string::npos && slash > 0 && slash + 1 < name.size()) return {};
  return invalid("\"" + name + "\" is not the name of a method, such as chess.Game/Move");
}

// Refuses to record a node that could not be replayed.
Result<void> check_record(const NodeConfig& config) {
  if (config.record.file.empty()) return {};
  if (config.shard_count() != 1) {
    return invalid("a node that is recorded has one shard, and this one has " +
                   std::to_string(config.shard_count()) + "; set node.shards to 1");
  }
  for (const auto& [file, key] : {std::pair(&config.clients.tls.certificate_file, "clients.tls"),
                                  std::pair(&config.admin.tls.certificate_file, "admin.tls"),
                                  std::pair(&config.cluster.tls.ca_file, "cluster.tls"),
                                  std::pair(&config.cluster.etcd.tls.ca_file, "cluster.etcd.tls"),
                                  std::pair(&config.store.redis.tls.ca_file, "store.redis.tls")}) {
    if (file->empty()) continue;
    return invalid("TLS traffic differs in each run; remove the files of node." + std::string(key) +
                   ", and terminate TLS in front of the node");
  }
  if (config.otlp.endpoint.starts_with("https://")) {
    return invalid(
        "TLS traffic differs in each run; let node.otlp.endpoint be a collector without TLS on "
        "this "
        "machine, or empty");
  }
  return {};
}

}  // namespace

void describe(config::Section& section, MethodStackConfig& value) {
  section.field("method", value.method, "Its name, package.Service/Method.");
  section.field("size", value.size, "The size of the stack; rounded up to a power of two.",
                config::between(config::Bytes{coroutine::StackPool::stack_size_bytes_min},
                                config::Bytes{coroutine::StackPool::stack_size_bytes_max}));
  section.rule({"method"}, [&value] { return check_method_name(value.method); });
}

void describe(config::Section& section, StacksConfig& value) {
  section.field("count_max", value.count_max,
                "The most coroutines that may exist at once; further calls are refused.",
                config::between(1'000, 10'000'000));
  section.field("methods", value.methods,
                "Methods whose handlers run on another stack than their option stack_size says; "
                "`corolane stacks --apply` writes it.");
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

void describe(config::Section& section, PeerTlsConfig& value) {
  section.field("ca_file", value.ca_file,
                "The CA that signs the certificates of the other side, PEM; empty: no TLS.");
  section.field("certificate_file", value.certificate_file,
                "The certificate that this node shows, PEM, with its chain; empty: none.");
  section.field("key_file", value.key_file, "Its key, PEM without a pass phrase.");
  section.rule({"ca_file", "certificate_file", "key_file"},
               [&value] { return check_peer_tls(value); });
}

void describe(config::Section& section, LoginConfig& value) {
  section.field("anonymous", value.anonymous,
                "Whether clients may call without a proof of who they are.");
  section.field("certificate", value.certificate,
                "Whether the TLS certificate of a client names its principal.");
  section.field("jwt_keys_file", value.jwt_keys_file,
                "The keys that sign the JSON Web Tokens of clients: a JWKS, public keys in PEM, or "
                "a secret; a reload reads it again. Empty: tokens are refused.");
  section.field("jwt_issuer", value.jwt_issuer, "The `iss` of these tokens; empty: any.");
  section.field("jwt_audience", value.jwt_audience,
                "One of their `aud`; empty: a token with an audience is refused.");
  section.field("jwt_roles_claim", value.jwt_roles_claim,
                "The claim with the roles of the principal.");
}

void describe(config::Section& section, ClientsConfig& value) {
  section.field("listen", value.listen,
                "Where clients connect, as address:port; port 0 picks a free port.",
                config::where(check_listen, address_words));
  section.field("http", value.http,
                "Whether the services are served over HTTP, too (JSON, Connect protocol): on is at "
                "the port of `listen`, address:port is at a port of its own.",
                config::where(check_http, "on, off or address:port"));
  section.field("files", value.files,
                "A folder whose files browsers get over HTTP: / is its index.html. They are read "
                "when the node starts, and need no login. WebSockets are at the port of `listen`. "
                "Empty: none.");
  section.field("websocket", value.websocket,
                "Whether the services are served to browsers by WebSocket, too, at the port of "
                "`listen`.");
  section.field(
      "websocket_deflate", value.websocket_deflate,
      "Whether long messages of WebSockets are compressed (permessage-deflate); not where "
      "an attacker chooses a part of a message whose rest is secret.");
  section.field("origins", value.origins,
                "The origins of web pages whose scripts may call over HTTP and by WebSocket; * "
                "stands for all. Pages of the node's own address, or localhost, may use "
                "WebSockets anyway.",
                config::where(check_origin, "https://game.example, or *"));
  section.moved("http_origins", "node.clients.origins");
  section.field("public_methods_only", value.public_methods_only,
                "Whether clients may call only methods with the option `public`; false is for "
                "development on a loopback address.");
  section.field("reflection", value.reflection,
                "Whether clients may list the methods that they may call, with their messages.");
  section.field("connections_max", value.connections_max,
                "The most client connections, over all shards, by frames and by HTTP together.",
                config::at_least(1), config::live);
  section.field("address_share", value.address_share,
                "The percentage of these connections, and of a shard's calls, that one address "
                "(for IPv6 a /64) may have; 100, for nodes behind a proxy, turns the limit off.",
                config::between(1, 100), config::live);
  section.field(
      "calls_per_connection_max", value.calls_per_connection_max,
      "The most calls that one connection may have running; a change applies to new connections.",
      config::at_least(1), config::live);
  section.field("connections_per_principal_max", value.connections_per_principal_max,
                "The most connections to a shard that one principal may have, from any address.",
                config::at_least(1), config::live);
  section.field("calls_per_principal_max", value.calls_per_principal_max,
                "The most calls of one principal that a shard runs at a time.", config::at_least(1),
                config::live);
  section.field("request_size_max", value.request_size_max,
                "Largest request that a client may send.",
                config::between(config::kibibyte, 64 * config::mebibyte));
  section.field("memory_max", value.memory_max,
                "The memory of requests that are not served and of replies that are not sent, over "
                "all shards; above it the clients that hold the most are closed.",
                config::at_least(16 * config::mebibyte), config::live);
  section.field("session_patience", value.session_patience,
                "How long the session of a client is kept without a connection.",
                config::between(std::chrono::seconds(1), std::chrono::hours(1)));
  section.field("login", value.login, "How clients prove who they are.");
  section.field("tls", value.tls, "TLS for clients, version 1.2 or later.");
  section.rule({"files", "http"}, [&value]() -> Result<void> {
    if (value.files.empty() || value.http != "off") return {};
    return invalid("files are served over HTTP, which is off: set node.clients.http to on");
  });
  section.rule({"login.certificate", "login.jwt_issuer", "login.jwt_audience"},
               [&value] { return check_login(value); });
}

void describe(config::Section& section, AdminConfig& value) {
  section.field(
      "listen", value.listen,
      "Address of the admin pages: loopback or unix:/path; any other needs a token and TLS.",
      config::where(check_listen, address_words));
  section.field(
      "token_file", value.token_file,
      "File with the token that the admin pages ask for, 16 bytes or more; empty: no token.");
  section.field("look_token_file", value.look_token_file,
                "File with a second token, whose holders may see everything and change nothing; "
                "empty: none.");
  section.field("tls", value.tls, "TLS for operators.");
  section.rule({"listen", "token_file"}, [&value] { return check_admin(value); });
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

void describe(config::Section& section, RedisConfig& value) {
  section.field("servers", value.servers,
                "The addresses of redis, as host:port each. Several share the partitions, so all "
                "nodes list them in the same order, which never changes.",
                config::where(check_server, server_words));
  section.field(
      "cluster", value.cluster,
      "Whether the servers are members of one Redis Cluster, which spreads the partitions "
      "by itself; any of its members will do.");
  section.field("user", value.user, "The user name for redis; empty for its default user.");
  section.field("password_file", value.password_file,
                "A file with the password for redis; empty: none.");
  section.field("database", value.database, "The number of the database of redis.",
                config::at_most(65'535));
  section.field("tls", value.tls, "TLS towards redis.");
  section.rule({"cluster", "database"}, [&value] { return check_redis(value); });
  section.moved("server", "node.store.redis.servers, as a list");
}

void describe(config::Section& section, StoreConfig& value) {
  section.field(
      "kind", value.kind,
      "memory loses everything at exit; sqlite is a local file; redis is for several nodes.");
  section.field("file", value.file, "The file of sqlite; it is created when it does not exist.");
  section.field("redis", value.redis, "The servers of redis.");
  section.moved("server", "node.store.redis.servers");
  section.moved("user", "node.store.redis.user");
  section.moved("password", "node.store.redis.password_file, to a file that holds it");
  section.moved("database", "node.store.redis.database");
}

void describe(config::Section& section, EtcdConfig& value) {
  section.field("servers", value.servers, "The addresses of etcd, as host:port each.",
                config::where(check_server, server_words));
  section.field("user", value.user, "The user name for etcd; empty for none.");
  section.field("password_file", value.password_file, "A file with the password for etcd.");
  section.field("tls", value.tls, "TLS towards etcd.");
}

void describe(config::Section& section, ClusterConfig& value) {
  section.field("name", value.name,
                "The name of the cluster; its keys in etcd and redis begin with it.",
                config::where(check_name, name_words));
  section.field("directory", value.directory,
                "The directory of nodes: local is for a single node, etcd for several.");
  section.field("without_directory", value.without_directory,
                "What a node does that the directory has not answered for 4.5 s: it refuses all "
                "calls of objects, or serves on, with a question to the store before each reply. "
                "Serve only with a store that forgets nothing, without failover to replicas.");
  section.field("balance", value.balance,
                "Whether partitions that keep a shard busy move to other nodes, at most one in "
                "twenty a minute. The node that joined first decides, so all have the same value.");
  section.field("partitions", value.partitions,
                "How many partitions the objects are divided into, when a redis is first used; "
                "its number never changes, and this key does nothing any more. At least ten for "
                "each shard that the cluster may ever have; more cost memory and requests. A node "
                "without a cluster must not go back to a build without this key when it has more "
                "than 1024.",
                config::where(check_partition_count, "1024, 2048, 4096, 8192 or 16384"));
  section.field("etcd", value.etcd, "The servers of etcd.");
  section.field("listen", value.listen,
                "Where other nodes call the first shard; the other shards have the ports that "
                "follow; port 0 picks free ports.",
                config::where(check_listen, address_words));
  section.field("advertise", value.advertise,
                "The host by which other nodes reach this one; empty: as in `listen`.");
  section.field(
      "shared_key_file", value.shared_key_file,
      "A file with a key that all nodes of the cluster share; empty, and without TLS: any "
      "process that reaches `listen` counts as a node, so that must be a loopback "
      "address.");
  section.field("tls", value.tls,
                "TLS between nodes, which show one another certificates for the name of the "
                "cluster, as a server and as a client.");
  section.field("weight", value.weight,
                "The node's share of the objects, relative to the other nodes.",
                config::between(1, 10'000));
  section.field("zone", value.zone, "The zone of the node, for types that require one.",
                config::where(check_label, "a name or nothing"));
  section.field("roles", value.roles,
                "The roles of the node, for types that require one. With the role `edge` it "
                "hosts no other types: it holds the sockets of clients.",
                config::where(check_name, name_words));
  section.moved("servers", "node.cluster.etcd.servers");
  section.moved("user", "node.cluster.etcd.user");
  section.moved("password", "node.cluster.etcd.password_file, to a file that holds it");
  section.moved("ca_file", "node.cluster.etcd.tls.ca_file");
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
  section.moved("listen", "node.clients.listen");
  section.moved("http", "node.clients.http");
  section.moved("public_methods_only", "node.clients.public_methods_only");
  section.moved("rpc", "the same keys in node.clients");
  section.moved("tls", "the same keys in node.clients.tls, and for operators in node.admin.tls");
  section.moved("admin", "node.admin.listen");
  section.moved("admin_token_file", "node.admin.token_file");
  section.field("clients", value.clients, "The door for clients.");
  section.field("cluster", value.cluster, "The door for the other nodes.");
  section.field("admin", value.admin, "The door for operators.");
  section.field("stop_time_max", value.stop_time_max,
                "How long running calls may take to finish when the node stops.",
                config::at_most(1h), config::live);
  section.field("log_level", value.log_level, "The lowest level that is logged.", config::live);
  section.field(
      "stall_time_min", value.stall_time_min,
      "A loop that does not turn for this long is reported, with the task at fault; 0s: never.",
      config::at_most(1h));
  section.field("stacks", value.stacks, "The stacks that coroutines run on.");
  section.field("otlp", value.otlp, "What is sent to a collector, by OTLP.");
  section.field("tracing", value.tracing, "Which calls have spans, for the collector.");
  section.field("call_log", value.call_log, "Which calls are logged.");
  section.field("shards", value.shards,
                "Threads, each with connections and objects of its own; 0: one for each core.",
                config::at_most(256));
  section.field("objects", value.objects, "The objects that live here.");
  section.field("store", value.store, "Where objects are stored.");
  section.field("record", value.record, "A recording of this node, for a replay.");
  section.field("crash", value.crash, "Crash reports.");
  section.rule({"store.kind", "cluster.directory"}, [&value] { return check_store(value); });
  section.rule({"cluster.listen", "cluster.shared_key_file", "cluster.tls.ca_file"},
               [&value] { return check_cluster(value.cluster); });
  section.rule({"record.file"}, [&value] { return check_record(value); });
}

Result<NodeEndpoints> validate(const NodeConfig& config) {
  auto clients = net::parse_endpoint(config.clients.listen);
  const std::initializer_list<std::pair<std::string_view, Result<void>>> checks = {
      {"node.name", check_name(config.name)},
      {"node.clients.listen", clients ? Result<void>() : clients.error()},
      {"node.clients.http", check_http(config.clients.http)},
      {"node.clients.tls", check_tls(config.clients.tls)},
      {"node.clients.login", check_login(config.clients)},
      {"node.admin.listen", check_admin(config.admin)},
      {"node.admin.tls", check_tls(config.admin.tls)},
      {"node.otlp", check_otlp(config.otlp)},
      {"node.store.kind", check_store(config)},
      {"node.store.redis.cluster", check_redis(config.store.redis)},
      {"node.store.redis.tls", check_peer_tls(config.store.redis.tls)},
      {"node.cluster.listen", check_cluster(config.cluster)},
      {"node.cluster.tls", check_peer_tls(config.cluster.tls)},
      {"node.cluster.etcd.tls", check_peer_tls(config.cluster.etcd.tls)},
      {"node.record.file", check_record(config)},
  };
  for (const auto& [key, checked] : checks) {
    if (!checked) return at_key(key, checked.error());
  }
  NodeEndpoints endpoints{.clients = *std::move(clients),
                          .admin = *net::parse_endpoint(config.admin.listen)};
  const std::string& http = config.clients.http;
  if (http == "on") {
    endpoints.http = endpoints.clients;
  } else if (!is_off(http)) {
    endpoints.http = *net::parse_endpoint(http);
  }
  return endpoints;
}

}  // namespace corolane::framework
