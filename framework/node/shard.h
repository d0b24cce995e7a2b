// SPDX-License-Identifier: MIT
// The part of a node on one thread: the services and objects that live there, and what they need.
// Shards share no mutable state; a call from one to another is a message.
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
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/cluster/cluster_view.h"
#include "framework/objects/host_options.h"
#include "framework/objects/object.h"
#include "framework/routing/router.h"
#include "framework/telemetry/metrics.h"
#include "framework/time/wall_clock.h"
#include "net/endpoint.h"
#include "rpc/principal.h"
#include "rpc/service.h"

namespace corolane::coroutine {
class Scheduler;
}
namespace corolane::net {
class ConnectionBound;
class HttpFiles;
class HttpServer;
class Network;
}  // namespace corolane::net
namespace corolane::rpc {
class HttpFace;
class Server;
class Tracer;
}  // namespace corolane::rpc

namespace corolane::framework {

class Log;
struct NodeConfig;
struct OtlpResource;
class Ownership;
class Store;
class Telemetry;
class Witness;
namespace detail {
class ClientDoor;
class ClientLogin;
class DoorNetwork;
class InspectionService;
class NodePages;
class ObjectHost;
class ObjectRouter;
class PushHub;
class PushService;
class SessionExchange;
class StoreGate;
class StoreHealth;
}  // namespace detail

class Shard;

// A type of objects that a node hosts.
struct HostedObjects {
  ObjectType type;
  std::function<std::unique_ptr<ObjectBase>(Shard& shard)> make;
  std::size_t object_bytes = 0;  // The size of one object.
  HostOptions options = {};
  const Ownership* ownership = nullptr;  // The node's, for that placement.
};

class Shard {
 public:
  // The parts that all shards of a node share; outlives them.
  struct Surroundings {
    const NodeConfig& config;
    const OtlpResource& resource;
    Log& log;
    const std::vector<HostedObjects>& objects;
    // The secret by which nodes authenticate to one another; empty: none.
    const std::string& shared_key;
    detail::StoreHealth& store_health;
    // Limits the client connections of all shards together.
    net::ConnectionBound& client_connections;
    // The program's login of clients; may be empty.
    const rpc::Login& login;
    // Of the folder that the configuration names, read before the shards listen; null: none.
    const std::unique_ptr<const net::HttpFiles>& files;
    // For other nodes.
    const detail::NodePages& pages;
    // The clock that objects read.
    WallClock wall_clock = {};
    Witness* witness = nullptr;
  };

  Shard(std::size_t index, const Surroundings& surroundings, net::Network& network);
  // Cancels running tasks, and suspends until they have ended.
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  std::size_t index() const { return index_; }

  // For services and objects: they call, log, measure and trace through these.
  Router& router();
  Log& log() { return surroundings_.log; }
  Metrics& metrics() { return metrics_; }
  rpc::Tracer& tracer();
  net::Network& network() { return network_; }
  coroutine::Scheduler& scheduler() const { return scheduler_; }

  // For the node.
  rpc::Server& rpc_server() { return *rpc_server_; }
  const rpc::Server& rpc_server() const { return *rpc_server_; }
  const Telemetry& telemetry() const { return *telemetry_; }
  Telemetry& telemetry() { return *telemetry_; }
  detail::ObjectRouter& object_router() { return *router_; }
  const detail::ObjectRouter& object_router() const { return *router_; }
  // The subscriptions of this shard, and to its objects.
  const detail::PushHub& push() const;
  detail::SessionExchange& sessions() { return *sessions_; }
  // Null when it has no objects.
  detail::ObjectHost* host() { return host_.get(); }
  const detail::ObjectHost* host() const { return host_.get(); }

  // Objects in memory.
  std::size_t active_object_count() const;
  // Null when it has no objects.
  Store* store() const;
  const detail::StoreGate* store_gate() const { return store_.get(); }

  // Takes the service over. Call it before open().
  void serve(std::unique_ptr<rpc::Service> service) { services_.push_back(std::move(service)); }
  // Serves the added services, and the objects, which `store` keeps. Call it once. Fails with
  // already_exists when two services have the same method, and when the files of a door cannot be
  // used, as net::TlsContext::load() and detail::ClientLogin::open().
  Result<void> open(std::shared_ptr<Store> store);
  // The names of the services meant for clients when clients may call none of their methods;
  // otherwise empty. Valid after open().
  std::vector<std::string> services_without_public_methods() const;
  // Listens for clients, by frames or by HTTP, or for nodes, after open(): inside TLS when there is
  // a certificate. HTTP may have the endpoint of the frames. Other shards may share the ports of
  // clients. Fail as rpc::Server::listen().
  Result<net::Endpoint> listen_for_clients(const net::Endpoint& endpoint, bool shares_port);
  Result<net::Endpoint> listen_for_http(const net::Endpoint& endpoint, bool shares_port);
  Result<net::Endpoint> listen_for_nodes(const net::Endpoint& endpoint,
                                         net::ConnectionBound& connections);
  // Null when HTTP is not served.
  const net::HttpServer* http_server() const { return http_server_.get(); }
  const detail::ClientDoor& client_door() const { return *client_door_; }

  // Changes the configuration at run time, in two steps that all shards make, so that the change
  // happens on all of them or on none. The first step reads the files of the doors again, and may
  // fail:
  Result<void> prepare_change();
  // The second applies the live keys of `config`, between two turns:
  void change(const NodeConfig& config);

  // The shutdown, in steps that all shards of a node make together, since calls go from one to
  // another. Each suspends. Before it, when there are other nodes, clients go there:
  void dismiss_clients(Deadline deadline);
  // The first ends the calls from outside, and refuses new ones:
  Result<void> stop_serving(Deadline deadline);
  // The second ends the calls from other shards:
  void stop_calls();
  // The third stores all changes:
  Result<void> stop_objects(Deadline deadline);

 private:
  Result<void> open_doors();
  Result<std::string> collector_headers() const;
  rpc::Security cluster_security() const;
  rpc::Login client_login() const;

  const std::size_t index_;
  const Surroundings surroundings_;
  net::Network& network_;
  coroutine::Scheduler& scheduler_;
  Metrics metrics_;
  std::unique_ptr<Telemetry> telemetry_;
  std::unique_ptr<detail::StoreGate> store_;
  const std::unique_ptr<detail::ClientDoor> client_door_;
  const std::unique_ptr<detail::DoorNetwork> cluster_network_;
  const std::unique_ptr<detail::ClientLogin> client_login_;
  // Destroyed in reverse order, so that no call reaches a destroyed part.
  std::unique_ptr<detail::ObjectRouter> router_;
  std::unique_ptr<detail::SessionExchange> sessions_;
  std::unique_ptr<detail::ObjectHost> host_;
  std::unique_ptr<detail::PushService> push_service_;
  std::unique_ptr<detail::InspectionService> inspection_service_;
  // The first one is reflection. They may work on their own and call objects until they end.
  std::vector<std::unique_ptr<rpc::Service>> services_;
  std::unique_ptr<rpc::Server> rpc_server_;
  std::unique_ptr<rpc::HttpFace> http_face_;  // Both are null when HTTP is not served.
  std::unique_ptr<net::HttpServer> http_server_;
};

}  // namespace corolane::framework
