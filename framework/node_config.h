// What an operator may set of a node: the section `node` of the configuration.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "config/section.h"
#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/stack_pool.h"
#include "framework/log.h"
#include "framework/telemetry.h"
#include "net/endpoint.h"

namespace corolane::framework {

struct StacksConfig {
  std::size_t count_max = coroutine::StackPool::Options{}.stack_count_max;
};

struct RpcConfig {
  std::size_t connections_max = 16'384;
  std::size_t calls_per_connection_max = 1024;
  config::Bytes request_size_max = 64 * config::kibibyte;
};

// Clients come inside of TLS when there is a certificate.
struct TlsConfig {
  std::string certificate_file = {};
  std::string key_file = {};
  std::string ca_file = {};
  bool needs_client_certificate = false;
};

struct NodeConfig {
  std::string name = "node";  // 1 to 63 letters, digits, '-', '_' and '.'.
  std::string listen = "127.0.0.1:8460";
  std::string admin = "127.0.0.1:8461";
  std::string http;  // Empty: the services are not served by HTTP.
  Duration stop_time_max = std::chrono::seconds(5);
  LogLevel log_level = LogLevel::info;
  StacksConfig stacks;
  RpcConfig rpc;
  TracingConfig tracing;
  CallLogConfig call_log;
  TlsConfig tls;
};

void describe(config::Section& section, StacksConfig& value);
void describe(config::Section& section, RpcConfig& value);
void describe(config::Section& section, TlsConfig& value);
void describe(config::Section& section, NodeConfig& value);

// Where a node listens, for calls, for its operator, and for calls by HTTP.
struct NodeEndpoints {
  net::Endpoint listen;
  net::Endpoint admin;
  std::optional<net::Endpoint> http = {};
};

// Checks what a load checks, for a struct that a program filled in, and reads the addresses.
// Fails with invalid_argument whose message names the key of the first wrong value.
Result<NodeEndpoints> validate(const NodeConfig& config);

}  // namespace corolane::framework
