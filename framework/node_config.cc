#include "framework/node_config.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "framework/admin.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;

bool is_name(std::string_view text) {
  constexpr std::size_t length_max = 63;
  return !text.empty() && text.size() <= length_max && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

Result<void> check_name(const std::string& name) {
  if (is_name(name)) return {};
  return Error(Code::invalid_argument, "a name is 1 to 63 letters, digits, '-', '_' and '.'");
}

Result<void> check_listen(const std::string& text) {
  auto endpoint = net::parse_endpoint(text);
  if (!endpoint) return endpoint.error();
  return {};
}

Result<void> check_admin(const std::string& text) {
  auto endpoint = net::parse_endpoint(text);
  if (!endpoint) return endpoint.error();
  return require_loopback(*endpoint);
}

// Where nothing need listen.
Result<void> check_http(const std::string& text) {
  return text.empty() ? Result<void>() : check_listen(text);
}

// The error with the key whose value it is about.
Error at_key(std::string_view key, const Error& error) {
  return Error(error.code(), std::string(key) + ": " + error.message());
}

}  // namespace

void describe(config::Section& section, StacksConfig& value) {
  section.field("count_max", value.count_max,
                "Coroutines that may exist at once; one more call is refused.",
                config::between(1'000, 10'000'000));
}

void describe(config::Section& section, RpcConfig& value) {
  section.field("connections_max", value.connections_max, "Clients that may be connected at once.",
                config::at_least(1));
  section.field("calls_per_connection_max", value.calls_per_connection_max,
                "Calls that one client may have running at once.", config::at_least(1));
  section.field("request_size_max", value.request_size_max,
                "Largest request that a client may send.",
                config::between(config::kibibyte, 64 * config::mebibyte));
}

void describe(config::Section& section, TlsConfig& value) {
  section.field("certificate_file", value.certificate_file,
                "The certificate that clients are shown, PEM, with its chain; empty: no TLS.");
  section.field("key_file", value.key_file, "Its key, PEM without a pass phrase.");
  section.field("ca_file", value.ca_file,
                "Who signs the certificates of clients, PEM; empty: they are not asked for one.");
  section.field("needs_client_certificate", value.needs_client_certificate,
                "Whether a client without a certificate is refused.");
}

void describe(config::Section& section, NodeConfig& value) {
  section.field("name", value.name, "What this node is called in logs and metrics.",
                config::where(check_name));
  section.field("listen", value.listen, "Where clients call, as address:port; port 0 takes any.",
                config::where(check_listen));
  section.field("admin", value.admin, "Where the admin pages are; a loopback address.",
                config::where(check_admin));
  section.field("http", value.http,
                "Where the services answer HTTP, JSON by the Connect protocol, as address:port;"
                " empty for nowhere.",
                config::where(check_http));
  section.field("stop_time_max", value.stop_time_max,
                "How long running calls may take to finish when the node stops.",
                config::at_most(1h));
  section.field("log_level", value.log_level, "The least level that is logged.");
  section.field("stacks", value.stacks, "The stacks that coroutines run on.");
  section.field("rpc", value.rpc, "Limits against clients.");
  section.field("tracing", value.tracing, "Spans of calls, for a collector.");
  section.field("call_log", value.call_log, "Which calls are logged.");
  section.field("tls", value.tls, "Clients inside of TLS, from 1.2 on.");
}

Result<NodeEndpoints> validate(const NodeConfig& config) {
  if (auto name = check_name(config.name); !name) return at_key("node.name", name.error());
  auto listen = net::parse_endpoint(config.listen);
  if (!listen) return at_key("node.listen", listen.error());
  if (config.tls.certificate_file.empty() &&
      !(config.tls.key_file.empty() && config.tls.ca_file.empty())) {
    return Error(Code::invalid_argument,
                 "node.tls.certificate_file: a key or a CA is of no use without a certificate");
  }
  if (auto admin = check_admin(config.admin); !admin) return at_key("node.admin", admin.error());
  if (auto collector = check_collector(config.tracing.collector); !collector) {
    return at_key("node.tracing.collector", collector.error());
  }
  if (auto http = check_http(config.http); !http) return at_key("node.http", http.error());
  NodeEndpoints endpoints{.listen = *std::move(listen),
                          .admin = *net::parse_endpoint(config.admin)};
  if (!config.http.empty()) endpoints.http = *net::parse_endpoint(config.http);
  return endpoints;
}

}  // namespace corolane::framework
