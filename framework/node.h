// One process's share of a game server: what serves calls, and what an operator needs beside it.
//
//   Node node(config, network);
//   node.serve(std::make_unique<ChessService>(chess_config));
//   if (auto started = node.start(); !started) return started.error();
//   ...
//   node.stop(Deadline::after(5s));
//
// A node owns all it needs and finds the rest through its constructor; there are no globals, so
// that many nodes fit into one test. It lives inside a task of a scheduler, and all of it belongs
// to that scheduler's thread.
#pragma once

#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/scheduler.h"
#include "framework/admin.h"
#include "framework/log.h"
#include "framework/metrics.h"
#include "framework/node_config.h"
#include "framework/telemetry.h"
#include "net/http_server.h"
#include "net/network.h"
#include "net/tls.h"
#include "rpc/http_face.h"
#include "rpc/server.h"
#include "rpc/service.h"

namespace corolane::framework {

class Node {
 public:
  // `network` outlives the node. Logs to stderr.
  Node(const NodeConfig& config, net::Network& network)
      : Node(config, network, Log(config.log_level)) {}
  Node(NodeConfig config, net::Network& network, Log log);
  // Stops at once unless it was stopped: cancels what runs and suspends until it has ended.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Serves `service` from start() on; owns it from now on. One is there from the beginning:
  // rpc::ReflectionService, which tells callers of the others.
  template <std::derived_from<rpc::Service> S>
  void serve(S service) {
    serve(std::make_unique<S>(std::move(service)));
  }
  void serve(std::unique_ptr<rpc::Service> service);

  // Listens and serves. Once. Fails with invalid_argument when the configuration makes no sense,
  // with already_exists when an address is taken or two services have the same method; nobody was
  // served then. So does a certificate that cannot be used, as net::TlsContext::load().
  Result<void> start();

  // Reads the files of node.tls again, for the connections that begin from now on. Fails as
  // net::TlsContext::reload(), and nothing has changed then. Does nothing without TLS.
  Result<void> reload_certificates();

  // The graceful end. Refuses new connections and calls, and suspends until the running ones have
  // ended; at the deadline they are cancelled. The admin pages answer until the end. Fails with
  // deadline_exceeded when calls had to be cancelled. Once.
  Result<void> stop(Deadline deadline);

  bool is_stopping() const { return stopping_; }
  const NodeConfig& config() const { return config_; }
  // With the ports that were chosen; from start() on.
  const NodeEndpoints& endpoints() const { return endpoints_; }
  TimePoint created_at() const { return created_at_; }

  // For services: what they log, measure, trace and show goes through these.
  Log& log() { return log_; }
  Metrics& metrics() { return metrics_; }
  rpc::Tracer& tracer() { return telemetry_.tracer(); }
  AdminServer& admin() { return admin_; }

  const rpc::Server& rpc_server() const { return rpc_server_; }
  const Telemetry& telemetry() const { return telemetry_; }
  coroutine::Scheduler& scheduler() const { return scheduler_; }

 private:
  Result<rpc::Server::ListenOptions> listen_options();
  // The one by which clients come: inside of TLS when the node has a certificate.
  net::Network& clients_network();
  Result<void> stop_serving(Deadline deadline);

  const NodeConfig config_;
  net::Network& network_;
  const TimePoint created_at_;
  coroutine::Scheduler& scheduler_;
  NodeEndpoints endpoints_;
  bool started_ = false;
  bool stopping_ = false;
  Log log_;
  Metrics metrics_;
  Telemetry telemetry_;
  // Destroyed from the last on: nobody calls a service or reads a page of one that is gone.
  std::vector<std::unique_ptr<rpc::Service>> services_;
  std::unique_ptr<net::TlsContext> tls_context_;  // These two are null without TLS.
  std::unique_ptr<net::TlsNetwork> tls_network_;
  rpc::Server rpc_server_;
  rpc::HttpFace http_face_;
  std::unique_ptr<net::HttpServer> http_server_;  // Null if the configuration does not say where.
  AdminServer admin_;
};

}  // namespace corolane::framework
