// What a node has once for each of its threads: the services and objects that live there, and what
// they need. Shards share nothing that changes; a call from one to another is a message.
//
//   node.serve([config](framework::Shard& shard) {
//     return std::make_unique<LobbyService>(shard.router(), config);
//   });
//
// All of it belongs to the scheduler of its thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/scheduler.h"
#include "framework/cluster/cluster_view.h"
#include "framework/cluster/ownership.h"
#include "framework/cluster/seeded_bugs.h"
#include "framework/node/node_config.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/object.h"
#include "framework/routing/detail/object_router.h"
#include "framework/routing/router.h"
#include "framework/store/detail/store_gate.h"
#include "framework/store/store.h"
#include "framework/telemetry/log.h"
#include "framework/telemetry/metrics.h"
#include "framework/telemetry/telemetry.h"
#include "framework/time/wall_clock.h"
#include "net/connection_bound.h"
#include "net/network.h"
#include "net/tls/tls.h"
#include "rpc/server/server.h"
#include "rpc/service.h"

namespace corolane::framework {

namespace detail {
class InspectionService;
class PushService;
}  // namespace detail

class Shard;

// Objects of one type, as a node is told to host them.
struct HostedObjects {
  ObjectType type;
  std::function<std::unique_ptr<ObjectBase>(Shard& shard)> make;
  std::size_t object_bytes = 0;  // Of what it makes.
  Placement placement = {};
  const Ownership* ownership = nullptr;  // Of the node, for that placement.
};

class Shard {
 public:
  // What all shards of a node have in common; outlives them.
  struct Surroundings {
    const NodeConfig& config;
    Log& log;
    const std::vector<HostedObjects>& objects;
    // What nodes of a cluster prove to one another; empty: nothing.
    const std::string& shared_key;
    detail::StoreHealth& store_health;
    // Bounds the connections of clients, to all shards together.
    net::ConnectionBound& client_connections;
    // What objects see.
    WallClock wall_clock = {};
    Witness* witness = nullptr;
    SeededBugs bugs = {};
  };

  Shard(std::size_t index, const Surroundings& surroundings, net::Network& network);
  // Cancels what runs, and suspends until it has ended.
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  std::size_t index() const { return index_; }

  // For services and objects: who they call, what they log, measure and trace goes through these.
  Router& router() { return router_; }
  Log& log() { return surroundings_.log; }
  Metrics& metrics() { return metrics_; }
  rpc::Tracer& tracer() { return telemetry_.tracer(); }
  net::Network& network() { return network_; }
  coroutine::Scheduler& scheduler() const { return scheduler_; }

  // For the node.
  rpc::Server& rpc_server() { return rpc_server_; }
  const rpc::Server& rpc_server() const { return rpc_server_; }
  const Telemetry& telemetry() const { return telemetry_; }
  Telemetry& telemetry() { return telemetry_; }
  detail::ObjectRouter& object_router() { return router_; }
  const detail::ObjectRouter& object_router() const { return router_; }
  // What is subscribed to here.
  const detail::Feeds& feeds() const { return router_.feeds(); }
  // Null when it has no objects.
  detail::ObjectHost* host() { return host_.get(); }
  const detail::ObjectHost* host() const { return host_.get(); }

  // Null when it has no objects.
  Store* store() const { return store_.get(); }

  // From now on it owns the service. Before open().
  void serve(std::unique_ptr<rpc::Service> service) { services_.push_back(std::move(service)); }
  // Serves what it was given, and the objects, which `store` keeps. Once. Fails with already_exists
  // when two services have the same method.
  Result<void> open(std::shared_ptr<Store> store);
  // The names of the services that clients are there for, when none of them has a method that they
  // may call; otherwise empty. After open().
  std::vector<std::string> services_without_public_methods() const;
  // Where clients call, after open(): inside of TLS when there is a certificate. Other shards may
  // have the same port. Fails as rpc::Server::listen() and net::TlsContext::load().
  Result<net::Endpoint> listen(const net::Endpoint& endpoint, bool shares_port);
  // The network by which they come.
  net::Network& clients_network() { return tls_network_ == nullptr ? network_ : *tls_network_; }

  // A change of the configuration while it runs, in two steps that all shards make, so that it is
  // made on all of them or on none. The first one reads the certificates again, and may fail:
  Result<void> prepare_change();
  // Takes over what is live of `config`, between two turns:
  void change(const NodeConfig& config);

  // The end, in steps that all shards of a node make together, since calls go from one to another.
  // Each suspends. No call comes from outside any more, and those that came have ended:
  Result<void> stop_serving(Deadline deadline);
  // Nor do any come from other shards:
  void stop_calls();
  // What is changed is stored:
  Result<void> stop_objects(Deadline deadline);

 private:
  Result<void> load_certificates();

  const std::size_t index_;
  const Surroundings surroundings_;
  net::Network& network_;
  coroutine::Scheduler& scheduler_;
  Metrics metrics_;
  Telemetry telemetry_;
  std::unique_ptr<detail::StoreGate> store_;
  std::unique_ptr<net::TlsContext> tls_context_;  // These two are null without TLS.
  std::unique_ptr<net::TlsNetwork> tls_network_;
  std::function<void()> change_certificates_;  // Prepared.
  // Destroyed from the last on: nobody calls what is gone.
  std::vector<std::unique_ptr<rpc::Service>> services_;  // The first one is reflection.
  detail::ObjectRouter router_;
  std::unique_ptr<detail::ObjectHost> host_;
  std::unique_ptr<detail::PushService> push_service_;
  std::unique_ptr<detail::InspectionService> inspection_service_;
  rpc::Server rpc_server_;
};

}  // namespace corolane::framework
