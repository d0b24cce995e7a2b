// One process's share of a game server: what serves calls and hosts objects, and what an operator
// needs beside it.
//
//   Node node(config, network);
//   node.serve([&](Shard& shard) { return std::make_unique<Lobby>(shard.router(), config); });
//   node.host<Player>();
//   if (auto started = node.start(); !started) return started.error();
//   ...
//   node.stop(Deadline::after(5s));
//
// A node has a shard (shard.h) for each core: the first one on the thread that makes the node, the
// others on threads of their own, which start() begins and stop() ends. It owns all it needs and
// finds the rest through its constructor; there are no globals, so that many nodes fit into one
// test. It lives inside a task of a scheduler, and all of it belongs to that scheduler's thread.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "framework/admin/admin.h"
#include "framework/cluster/cluster.h"
#include "framework/cluster/ownership.h"
#include "framework/cluster/seeded_bugs.h"
#include "framework/directory/directory.h"
#include "framework/node/node_config.h"
#include "framework/node/shard.h"
#include "framework/objects/object.h"
#include "framework/store/store.h"
#include "framework/telemetry/log.h"
#include "framework/telemetry/metrics.h"
#include "framework/telemetry/telemetry.h"
#include "net/connection_bound.h"
#include "net/http/http_server.h"
#include "net/network.h"
#include "rpc/http/http_face.h"
#include "rpc/server/server.h"
#include "rpc/service.h"

namespace corolane::framework {

namespace detail {
class FenceWatchdog;
class LogLoan;
class NodeTenants;
class ShardSet;
class SideThread;
class StallWatchdog;
}  // namespace detail

class Node {
 public:
  // What a simulation has instead of what the configuration says.
  struct Parts {
    std::shared_ptr<Store> store = nullptr;  // Of all shards.
    std::shared_ptr<Directory> directory = nullptr;
    // Simulation has a clock of its own; only a real one has a watchdog.
    Fence::Clock clock = boot_time;
    WallClock wall_clock = {};
    Cluster::Options cluster = {};
    Witness* witness = nullptr;  // Outlives the node.
    SeededBugs bugs = {};
  };

  // `network` outlives the node. Logs to stderr.
  Node(const NodeConfig& config, net::Network& network)
      : Node(config, network, Log(config.log_level)) {}
  Node(NodeConfig config, net::Network& network, Log log)
      : Node(std::move(config), network, std::move(log), Parts{}) {}
  Node(NodeConfig config, net::Network& network, Log log, Parts parts);
  // Stops at once unless it was stopped: cancels what runs and suspends until it has ended.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Serves, from start() on, what `make` makes for each shard, on its thread: a std::unique_ptr of
  // a service. One is there from the beginning: rpc::ReflectionService.
  template <std::invocable<Shard&> F>
  void serve(F make) {
    make_services_.push_back(
        [make = std::move(make)](Shard& shard) mutable { shard.serve(make(shard)); });
  }
  // The same for a node with one shard.
  void serve(std::unique_ptr<rpc::Service> service);
  template <std::derived_from<rpc::Service> S>
  void serve(S service) {
    serve(std::make_unique<S>(std::move(service)));
  }

  // Hosts objects of class O from start() on, on nodes that `placement` names.
  template <std::derived_from<ObjectBase> O>
  void host(const Placement& placement = {}) {
    host<O>([](Shard&) { return std::make_unique<O>(); }, placement);
  }
  // The same by a function of a shard that makes one, on its thread.
  template <std::derived_from<ObjectBase> O, typename F>
    requires std::convertible_to<std::invoke_result_t<F&, Shard&>, std::unique_ptr<O>>
  void host(F make, const Placement& placement = {}) {
    objects_.push_back(
        {.type = O::object_type(),
         .make = [make = std::move(make)](Shard& shard) mutable -> std::unique_ptr<ObjectBase> {
           return make(shard);
         },
         .object_bytes = sizeof(O),
         .placement = placement});
  }

  // Joins the cluster, listens and serves. Once. Fails with invalid_argument when the configuration
  // makes no sense, with already_exists when an address is taken or two services have the same
  // method, with failed_precondition when it serves something and clients may call none of it;
  // nobody was served then. So does a certificate that cannot be used, as
  // net::TlsContext::load(); a store and a directory that are away.
  Result<void> start();

  // Begins the threads that look at the node from outside, after start(): a watchdog that notices
  // loops which do not turn (node.stall_time_min), and one that names what is on stacks, which
  // would hold up the loop. For real processes; where time is simulated there is nobody outside.
  void observe();

  // Takes over what is live of `config`, a valid one, and reads the files of node.tls again, for
  // the connections that begin from now on: on all shards, or it fails as net::TlsContext::reload()
  // and nothing has changed. Each shard sees the change between two turns, and runs `together` with
  // it. Suspends; one at a time, from start() on.
  Result<void> reload(const NodeConfig& config,
                      const std::function<void(Shard& shard)>& together = {});

  // The graceful end. Hands its objects over to other nodes, if there are some; then refuses new
  // connections and calls, and suspends until the running ones have ended; at the deadline they are
  // cancelled. Stores what is not stored. The admin pages answer until the end. Fails with
  // deadline_exceeded when calls had to be cancelled. Once.
  Result<void> stop(Deadline deadline);

  bool is_stopping() const { return stopping_; }
  // What is in effect.
  const NodeConfig& config() const { return config_; }
  // With the ports that were chosen; from start() on.
  const NodeEndpoints& endpoints() const { return endpoints_; }
  TimePoint created_at() const { return created_at_; }

  // For services: what they log, measure, trace and show goes through these.
  Log& log() { return log_; }
  // Of the first shard.
  Metrics& metrics() { return shard_->metrics(); }
  rpc::Tracer& tracer() { return shard_->tracer(); }
  Router& router() { return shard_->router(); }
  AdminServer& admin() { return *admin_; }
  const AdminServer& admin() const { return *admin_; }

  // For pages.
  detail::LogLoan& log_loan() { return *log_loan_; }
  // Null when there is none.
  const net::HttpServer* http_server() const { return http_server_.get(); }
  const net::ConnectionBound& http_connections() const { return http_connections_; }
  // Null unless observe() was called and stalls are looked for.
  const detail::StallWatchdog* stall_watchdog() const { return stall_watchdog_.get(); }
  // Whether the store takes what changes.
  const detail::StoreHealth& store_health() const { return store_health_; }
  // Runs what would hold up the loop on a thread of its own, if observe() was called, and suspends
  // until it has ended; otherwise here and now. It must not throw.
  void run_beside(const std::function<void()>& work);
  // The same with the names of functions. Those that were found are kept for the next one.
  void run_with_symbols(const std::function<void(coroutine::Symbols& symbols)>& work);

  // The first one.
  const Shard& shard() const { return *shard_; }
  detail::ObjectRouter& object_router() { return shard_->object_router(); }
  const rpc::Server& rpc_server() const { return shard_->rpc_server(); }
  const Telemetry& telemetry() const { return shard_->telemetry(); }
  coroutine::Scheduler& scheduler() const { return shard_->scheduler(); }

  std::size_t shard_count() const;
  // Runs `work` in a task of each shard, at the same time on their threads; suspends until all have
  // ended, and returns the first error. From start() on.
  Result<void> on_each_shard(const std::function<Result<void>(Shard& shard)>& work);
  // Null until start().
  const Cluster* cluster() const { return cluster_.get(); }
  const Fence& fence() const { return fence_; }

 private:
  Shard::Surroundings surroundings();
  void read_names_ahead();
  Result<void> read_shared_key();
  Result<std::string> read_admin_token() const;
  Result<void> open_stores();
  Result<void> open_shards();
  Result<void> check_reach_of_clients();
  Result<void> join_cluster();
  Result<void> listen_for_clients(const NodeEndpoints& endpoints);
  Result<void> listen_for_nodes(Shard& shard, net::Endpoint& bound);
  Result<void> listen_on_shards(const net::Endpoint& endpoint);
  void warn_of_open_methods();
  Member member() const;
  bool is_alone() const {
    return config_.cluster.directory == DirectoryKind::local && !parts_.directory;
  }
  Result<void> drain(Deadline deadline);
  Result<void> stop_serving(Deadline deadline);
  void close_all(Deadline deadline);

  NodeConfig config_;  // Other threads read what is not live.
  net::Network& network_;
  const Parts parts_;
  const TimePoint created_at_;
  NodeEndpoints endpoints_;
  bool started_ = false;
  bool stopping_ = false;
  Log log_;
  std::unique_ptr<detail::LogLoan> log_loan_;
  Fence fence_;
  std::map<Placement, std::unique_ptr<Ownership>> ownerships_;
  std::vector<HostedObjects> objects_;
  std::string shared_key_;  // Of the cluster; read by start().
  std::vector<std::function<void(Shard&)>> make_services_;
  bool has_single_services_ = false;
  detail::StoreHealth store_health_;
  std::shared_ptr<Store> shared_store_;  // Null when each shard has its own.
  net::ConnectionBound node_connections_;
  net::ConnectionBound client_connections_;
  net::ConnectionBound http_connections_;
  // Destroyed from the last on: nobody calls what is gone.
  std::unique_ptr<Shard> shard_;  // The first one.
  std::unique_ptr<detail::ShardSet> shards_;
  std::shared_ptr<Directory> directory_;
  std::unique_ptr<detail::NodeTenants> tenants_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<detail::FenceWatchdog> watchdog_;  // Null where nobody waits for us to be silent.
  std::unique_ptr<detail::StallWatchdog> stall_watchdog_;
  coroutine::Symbols symbols_;  // Used by run_with_symbols() alone.
  std::unique_ptr<detail::SideThread> side_thread_;
  coroutine::TaskGroup reading_ahead_;
  rpc::HttpFace http_face_;
  std::unique_ptr<net::HttpServer> http_server_;  // Null if the configuration does not say where.
  std::unique_ptr<AdminServer> admin_;
};

}  // namespace corolane::framework
