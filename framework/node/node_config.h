// SPDX-License-Identifier: MIT
// The settings of a node: the section `node` of the configuration.
//
//   NodeConfig config;
//   config.clients.listen = "127.0.0.1:0";
//   config.clients.login.anonymous = true;
//   config.store = {.kind = StoreKind::memory};
//   Node node(config, network);
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/choice.h"
#include "config/units.h"
#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/stack/stack_pool.h"
#include "framework/diagnostics/crash_report.h"
#include "framework/telemetry/log_level.h"
#include "framework/telemetry/telemetry_config.h"
#include "framework/wire/partition.h"
#include "net/address_shares.h"
#include "net/endpoint.h"
#include "rpc/session.h"

namespace corolane::config {
class Section;
}

namespace corolane::framework {

// The role of nodes that hold the sockets of clients, and host only the types that require it.
inline constexpr std::string_view edge_role = "edge";

// Another stack for the handlers of a method than its option in the .proto file says.
struct MethodStackConfig {
  std::string method;  // "package.Service/Method".
  config::Bytes size{coroutine::StackPool::stack_size_bytes_default};
};

struct StacksConfig {
  std::size_t count_max = coroutine::StackPool::Options{}.stack_count_max;
  std::vector<MethodStackConfig> methods;
};

// Connections use TLS when there is a certificate.
struct TlsConfig {
  std::string certificate_file = {};
  std::string key_file = {};
  std::string ca_file = {};
  bool needs_client_certificate = false;
};

// TLS towards a peer that we call: a database, or another node.
struct PeerTlsConfig {
  std::string ca_file = {};
  std::string certificate_file = {};
  std::string key_file = {};
};

// How clients prove their identity.
struct LoginConfig {
  // Clients that prove nothing may call.
  bool anonymous = false;
  // The certificate of a client names its principal.
  bool certificate = false;
  // JSON Web Tokens that one of these keys has signed name the principal of a client.
  std::string jwt_keys_file = {};
  std::string jwt_issuer = {};
  std::string jwt_audience = {};
  std::string jwt_roles_claim = "roles";
};

// The door for clients, such as players.
struct ClientsConfig {
  std::string listen = "127.0.0.1:8460";
  // Where the services are served over HTTP as well: "on" the same port, or on one of its own.
  std::string http = "off";
  // A folder whose files browsers get over HTTP, at paths that are no services; empty: none.
  std::string files = {};
  // Whether browsers may connect by WebSocket, at the port of `listen`.
  bool websocket = true;
  // Whether long messages of WebSockets are compressed when the browser can as well.
  bool websocket_deflate = false;
  // The web pages whose scripts may call by HTTP and by WebSocket: "https://game.example", or "*"
  // for all.
  std::vector<std::string> origins = {};
  // Clients can call no other methods, by rpc or by HTTP. False is for development on loopback.
  bool public_methods_only = true;
  bool reflection = true;
  std::size_t connections_max = 16'384;
  // Half: no single machine takes all connections, and thousands of players behind the one address
  // of a mobile carrier have room.
  std::uint32_t address_share = net::AddressShares::Limits{}.share_percent;
  std::size_t calls_per_connection_max = 1024;
  // Each shard counts for itself, over all addresses of a principal.
  std::size_t connections_per_principal_max = 256;
  std::size_t calls_per_principal_max = 4'096;
  config::Bytes request_size_max = 64 * config::kibibyte;
  // Over all shards; each has an equal part.
  config::Bytes memory_max = 128 * config::mebibyte;
  Duration session_patience = rpc::SessionOptions{}.patience;
  LoginConfig login;
  TlsConfig tls;
};

// The door for operators: the admin pages.
struct AdminConfig {
  std::string listen = "127.0.0.1:8461";
  std::string token_file = {};       // Its holders may see and change everything,
  std::string look_token_file = {};  // and those of this one may only see.
  TlsConfig tls;
};

struct ObjectsConfig {
  std::uint32_t mailbox_max = 1'024;
  Duration idle_time_max = std::chrono::minutes(5);
  config::Bytes memory_max = 1024 * config::mebibyte;
};

enum class StoreKind : std::uint8_t { memory, sqlite, redis };

constexpr auto choices(StoreKind) {
  return std::to_array<config::Choice<StoreKind>>(
      {{"memory", StoreKind::memory}, {"sqlite", StoreKind::sqlite}, {"redis", StoreKind::redis}});
}

struct RedisConfig {
  std::vector<std::string> servers = {"127.0.0.1:6379"};
  bool cluster = false;
  std::string user = {};
  std::string password_file = {};
  std::uint32_t database = 0;
  PeerTlsConfig tls;
};

struct StoreConfig {
  StoreKind kind = StoreKind::sqlite;
  std::string file = "objects.db";  // For sqlite.
  RedisConfig redis;
};

enum class DirectoryKind : std::uint8_t { local, etcd };

constexpr auto choices(DirectoryKind) {
  return std::to_array<config::Choice<DirectoryKind>>(
      {{"local", DirectoryKind::local}, {"etcd", DirectoryKind::etcd}});
}

// The behaviour of a node that the directory has not answered for too long.
enum class WithoutDirectory : std::uint8_t { refuse, serve };

constexpr auto choices(WithoutDirectory) {
  return std::to_array<config::Choice<WithoutDirectory>>(
      {{"refuse", WithoutDirectory::refuse}, {"serve", WithoutDirectory::serve}});
}

struct EtcdConfig {
  std::vector<std::string> servers = {"127.0.0.1:2379"};
  std::string user = {};
  std::string password_file = {};
  PeerTlsConfig tls;
};

// The door for other nodes.
struct ClusterConfig {
  std::string name = "corolane";  // Nodes and stores of another name belong to another cluster.
  DirectoryKind directory = DirectoryKind::local;
  WithoutDirectory without_directory = WithoutDirectory::refuse;
  bool balance = false;  // Busy partitions leave shards that are full.
  // How many partitions a redis gets that no node has used before; afterwards they are fixed.
  std::uint32_t partitions = partition_count_min;
  EtcdConfig etcd;
  // Where other nodes call the first shard; the other shards have the ports that follow.
  std::string listen = "127.0.0.1:0";
  std::string advertise = {};  // The host by which they reach it; empty: that of `listen`.
  std::string shared_key_file = {};
  PeerTlsConfig tls;
  std::uint32_t weight = 100;
  std::string zone = {};
  std::vector<std::string> roles = {};
};

// The input of the node is recorded to a file, for `--replay`.
struct RecordConfig {
  std::string file = {};  // Empty: nothing is recorded.
  config::Bytes size_max = 64 * config::mebibyte;
};

struct NodeConfig {
  std::string name = "node";  // 1 to 63 letters, digits, '-', '_' and '.'.
  ClientsConfig clients;
  ClusterConfig cluster;
  AdminConfig admin;
  Duration stop_time_max = std::chrono::seconds(5);
  LogLevel log_level = LogLevel::info;
  Duration stall_time_min = std::chrono::milliseconds(20);  // 0: stalls are not detected.
  StacksConfig stacks;
  OtlpConfig otlp;
  TracingConfig tracing;
  CallLogConfig call_log;
  std::uint32_t shards = 0;  // 0: one for each core.
  ObjectsConfig objects;
  StoreConfig store;
  RecordConfig record;
  CrashConfig crash;

  std::size_t shard_count() const;
};

void describe(config::Section& section, MethodStackConfig& value);
void describe(config::Section& section, StacksConfig& value);
void describe(config::Section& section, TlsConfig& value);
void describe(config::Section& section, PeerTlsConfig& value);
void describe(config::Section& section, LoginConfig& value);
void describe(config::Section& section, ClientsConfig& value);
void describe(config::Section& section, AdminConfig& value);
void describe(config::Section& section, ObjectsConfig& value);
void describe(config::Section& section, RedisConfig& value);
void describe(config::Section& section, StoreConfig& value);
void describe(config::Section& section, EtcdConfig& value);
void describe(config::Section& section, ClusterConfig& value);
void describe(config::Section& section, RecordConfig& value);
void describe(config::Section& section, CrashConfig& value);
void describe(config::Section& section, NodeConfig& value);

// The addresses on which a node listens: for the calls of clients, for its operator, and for calls
// by HTTP.
struct NodeEndpoints {
  net::Endpoint clients;
  net::Endpoint admin;
  std::optional<net::Endpoint> http = {};
  // Where other nodes call its shards, by number; empty for a node that is alone.
  std::vector<net::Endpoint> cluster = {};
};

// Makes the checks of a load for a struct that a program filled in, and parses the addresses. Fails
// with invalid_argument; the message names the key of the first wrong value.
Result<NodeEndpoints> validate(const NodeConfig& config);

}  // namespace corolane::framework
