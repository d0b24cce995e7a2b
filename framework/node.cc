#include "framework/node.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "framework/admin_pages.h"
#include "framework/node_metrics.h"
#include "framework/version.h"
#include "rpc/reflection.h"

namespace corolane::framework {
namespace {

rpc::Server::Options rpc_options(const RpcConfig& config) {
  return {.connection_count_max = config.connections_max,
          .calls_per_connection_max = config.calls_per_connection_max};
}

// For the spans of the last calls, when those took all of the time.
constexpr Duration last_spans_time_max = std::chrono::milliseconds(250);

net::HttpServer::Options http_options(const RpcConfig& config) {
  return {.limits = {.body_bytes_max = config.request_size_max.count},
          .connection_count_max = config.connections_max};
}

// What to do about a listener that was refused.
Error listen_error(std::string_view key, const net::Endpoint& endpoint, const Error& cause) {
  std::string message = "cannot listen on " + to_string(endpoint) + ": ";
  if (cause.code() == Code::already_exists) {
    message.append("address in use; another node? change ").append(key);
  } else {
    message.append(cause.message()).append("; see ").append(key);
  }
  return Error(cause.code(), std::move(message));
}

}  // namespace

Node::Node(NodeConfig config, net::Network& network, Log log)
    : config_(std::move(config)),
      network_(network),
      created_at_(now()),
      scheduler_(coroutine::Scheduler::current()),
      log_(std::move(log)),
      telemetry_(
          {.node_name = config_.name, .tracing = config_.tracing, .call_log = config_.call_log},
          network, log_),
      rpc_server_(network, rpc_options(config_.rpc)),
      http_face_(rpc_server_),
      admin_(network) {
  telemetry_.watch(rpc_server_);
  serve(rpc::ReflectionService(rpc_server_));
  add_node_metrics(metrics_, *this);
  add_node_pages(admin_, *this);
}

Node::~Node() = default;

void Node::serve(std::unique_ptr<rpc::Service> service) {
  check(!started_, "services are served before the node starts");
  services_.push_back(std::move(service));
}

Result<rpc::Server::ListenOptions> Node::listen_options() {
  rpc::Server::ListenOptions options{.request_bytes_max = config_.rpc.request_size_max.count};
  const TlsConfig& tls = config_.tls;
  if (tls.certificate_file.empty()) return options;
  auto context = net::TlsContext::load({.certificate_file = tls.certificate_file,
                                        .key_file = tls.key_file,
                                        .ca_file = tls.ca_file,
                                        .needs_peer_certificate = tls.needs_client_certificate});
  if (!context) return std::move(context.error()).with_context("node.tls");
  tls_context_ = *std::move(context);
  tls_network_ = std::make_unique<net::TlsNetwork>(network_, *tls_context_);
  options.network = &clients_network();
  return options;
}

net::Network& Node::clients_network() { return tls_network_ == nullptr ? network_ : *tls_network_; }

Result<void> Node::reload_certificates() {
  if (tls_context_ == nullptr) return {};
  return tls_context_->reload();
}

Result<void> Node::start() {
  check(!started_, "a node starts once");
  started_ = true;
  auto endpoints = validate(config_);
  if (!endpoints) return endpoints.error();
  for (const auto& service : services_) {
    if (auto added = rpc_server_.add(*service); !added) return added.error();
  }

  auto options = listen_options();
  if (!options) return options.error();

  // Clients come last: one that is served is served by a whole node.
  auto admin = admin_.listen(endpoints->admin);
  if (!admin) return listen_error("node.admin", endpoints->admin, admin.error());
  auto listen = rpc_server_.listen(endpoints->listen, *std::move(options));
  if (!listen) {
    admin_.stop();
    return listen_error("node.listen", endpoints->listen, listen.error());
  }
  endpoints_ = {.listen = *std::move(listen), .admin = *std::move(admin)};
  if (endpoints->http) {
    http_server_ = std::make_unique<net::HttpServer>(clients_network(), http_face_.handler(),
                                                     http_options(config_.rpc));
    auto http = http_server_->listen(*endpoints->http);
    if (!http) {
      static_cast<void>(rpc_server_.stop(Deadline::passed()));
      admin_.stop();
      return listen_error("node.http", *endpoints->http, http.error());
    }
    endpoints_.http = *std::move(http);
  }
  log_.info("node serves", {{"name", config_.name},
                            {"version", version()},
                            {"listen", to_string(endpoints_.listen)},
                            {"tls", tls_context_ != nullptr},
                            {"admin", to_string(endpoints_.admin)},
                            {"http", endpoints_.http ? to_string(*endpoints_.http) : "off"}});
  return {};
}

// Both at the same time: each waits for its clients to leave.
Result<void> Node::stop_serving(Deadline deadline) {
  if (http_server_ == nullptr) return rpc_server_.stop(deadline);
  auto http = coroutine::spawn("stop http", [&] { return http_server_->stop(deadline); },
                               {.purpose = coroutine::StackPool::Purpose::control});
  auto stopped = rpc_server_.stop(deadline);
  auto http_stopped = http.join();
  return stopped ? http_stopped : stopped;
}

Result<void> Node::stop(Deadline deadline) {
  check(!stopping_, "a node stops once");
  stopping_ = true;
  const TimePoint start = now();
  log_.info("node stops",
            {{"name", config_.name}, {"running_calls", rpc_server_.statistics().running_count}});
  auto stopped = stop_serving(deadline);
  telemetry_.stop(std::max(deadline, Deadline::after(last_spans_time_max)));
  admin_.stop();
  if (!stopped) {
    log_.warning("running calls did not finish in time", {{"error", stopped.error().message()}});
  }
  log_.info("node stopped", {{"name", config_.name}, {"took", now() - start}});
  return stopped;
}

}  // namespace corolane::framework
