// SPDX-License-Identifier: MIT
// One process of a game server: it serves calls and hosts objects, and has the tools that an
// operator needs.
//
//   Node node(config, network);
//   node.serve([&](Shard& shard) { return std::make_unique<Lobby>(shard.router(), config); });
//   node.host<Player>();
//   if (auto started = node.start(); !started) return started.error();
//   ...
//   node.stop(Deadline::after(5s));
//
// A node has a shard (shard.h) for each core, on threads of their own, which start() begins and the
// end of the node ends. The thread that makes the node is the control thread, which only looks and
// decides: the member of the cluster, the admin pages, the metrics and the balancer live there. It
// hosts no objects, so a shard that hangs is a line on a page, never a page that hangs. In tests
// and recordings the first shard shares that thread (Parts::has_control_loop). A node owns all it
// needs and gets the rest through its constructor; there are no globals, so one test may have many
// nodes. It lives inside a task of a scheduler, and all of it belongs to that scheduler's thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/cluster/ownership.h"
#include "framework/edge/user.h"
#include "framework/node/node_config.h"
#include "framework/node/shard.h"
#include "framework/objects/host_options.h"
#include "framework/objects/object.h"
#include "framework/telemetry/log.h"
#include "net/connection_bound.h"
#include "rpc/principal.h"
#include "rpc/service.h"

namespace corolane::coroutine {
class Symbols;
}

namespace corolane::framework {

class AdminServer;
class Cluster;
class Directory;
struct Member;
struct OtlpResource;
namespace detail {
class Balancing;
class DoorNetwork;
class FenceWatchdog;
class LogLoan;
class NodeExports;
class NodeHistory;
class NodePages;
class NodePeers;
class NodeTenants;
class ShardPulse;
class ShardSet;
class SideThread;
struct ShardSilence;
class StallWatchdog;
class WaitWatch;
}  // namespace detail

class Node {
 public:
  // A simulation passes parts that replace the configured ones: node_parts.h.
  struct Parts;

  // `network` outlives the node. The node logs to stderr.
  Node(const NodeConfig& config, net::Network& network);
  Node(NodeConfig config, net::Network& network, Log log);
  Node(NodeConfig config, net::Network& network, Log log, Parts parts);
  // Stops at once unless the node was stopped: cancels running tasks and suspends until they have
  // ended.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Serves, from start() on, the services that `make` returns: a std::unique_ptr for each shard,
  // made on its thread. Every node also serves rpc::ReflectionService.
  template <std::invocable<Shard&> F>
  void serve(F make) {
    make_services_.push_back(
        [make = std::move(make)](Shard& shard) mutable { shard.serve(make(shard)); });
  }
  // The same for a node with one shard. The service may move to the thread of that shard when the
  // node starts, so its constructor spawns no task.
  void serve(std::unique_ptr<rpc::Service> service);
  template <std::derived_from<rpc::Service> S>
  void serve(S service) {
    serve(std::make_unique<S>(std::move(service)));
  }

  // Hosts objects of class O from start() on.
  template <std::derived_from<ObjectBase> O>
  void host(const HostOptions& options = {}) {
    host<O>([](Shard&) { return std::make_unique<O>(); }, options);
  }
  // The same with a function that makes an object of a shard, on its thread.
  template <std::derived_from<ObjectBase> O, typename F>
    requires std::convertible_to<std::invoke_result_t<F&, Shard&>, std::unique_ptr<O>>
  void host(F make, const HostOptions& options = {}) {
    objects_.push_back(
        {.type = O::object_type(),
         .make = [make = std::move(make)](Shard& shard) mutable -> std::unique_ptr<ObjectBase> {
           return make(shard);
         },
         .object_bytes = sizeof(O),
         .options = options});
  }

  // Hosts the users of the program (edge/user.h). Every node that serves clients calls it, with the
  // same options.
  void host_users(const UserOptions& users = {}, const HostOptions& options = {});

  // Finds the principals of clients by their tokens or certificates, from start() on, in place of
  // node.clients.login: by rpc once for each connection, by HTTP with each request. Called on the
  // threads of all shards. An anonymous principal is refused unless
  // node.clients.login.anonymous says otherwise.
  void set_login(rpc::Login login) {
    check(!started_, "the login of clients is set before the node starts");
    login_ = std::move(login);
  }

  // Joins the cluster, listens and serves. Call it once. Fails with invalid_argument when the
  // configuration is invalid, with already_exists when an address is taken or two services have the
  // same method, and with failed_precondition when it has services and clients may call none of
  // their methods, when no client could log in, or when a transient type has a durable method. Also
  // fails as net::TlsContext::load() for a certificate that cannot be used, and when the store or
  // the directory is away. No call was served then.
  Result<void> start();

  // Starts the threads that watch the node from outside; call it after start(). A watchdog notices
  // loops that do not turn (node.stall_time_min); another thread finds the names of functions on
  // stacks, which would hold up the loop. For real processes only: with simulated time there is no
  // outside.
  void observe();
  // Keeps a history of its figures from now on, for pages; observe() calls it.
  void keep_history();

  // Applies the live keys of `config`, which is valid, on all shards, and reads the certificates of
  // the doors and the keys of the login again, for connections that begin from now on. When it
  // fails, as net::TlsContext::reload(), nothing has changed. Each shard sees the change between
  // two turns, and runs `together` with it. Suspends. One reload runs at a time, after start().
  Result<void> reload(const NodeConfig& config,
                      const std::function<void(Shard& shard)>& together = {});

  // The graceful shutdown. Hands its objects over to other nodes, if there are any; then refuses
  // new connections and calls, and suspends until the running calls have ended; at the deadline
  // they are cancelled. Stores all unsaved changes. The admin pages answer until the end. Fails
  // with deadline_exceeded when calls had to be cancelled. Call it once.
  Result<void> stop(Deadline deadline);

  // Until start() has succeeded.
  bool is_starting() const { return starting_; }
  bool is_stopping() const { return stopping_; }
  // The configuration that is in effect.
  const NodeConfig& config() const { return config_; }
  // Has the ports that were chosen; valid from start() on.
  const NodeEndpoints& endpoints() const { return endpoints_; }
  TimePoint created_at() const { return created_at_; }

  Log& log() { return log_; }
  // For metrics that the node has once; each shard has its own (Shard::metrics()). Collected on
  // this thread.
  Metrics& metrics() { return metrics_; }
  // It has no pages until add_node_pages() (pages/admin_pages.h), which run_main() calls.
  AdminServer& admin() { return *admin_; }
  const AdminServer& admin() const { return *admin_; }

  // For pages.
  detail::LogLoan& log_loan() { return *log_loan_; }
  // Null unless observe() was called and stalls are detected.
  const detail::StallWatchdog* stall_watchdog() const { return stall_watchdog_.get(); }
  // Null unless it keeps one.
  const detail::NodeHistory* history() const { return history_.get(); }
  // Whether the store accepts changes.
  const detail::StoreHealth& store_health() const { return *store_health_; }
  // Runs work that would hold up the loop on a thread of its own, if observe() was called, and
  // suspends until it has ended; otherwise runs it here. It must not throw.
  void run_beside(const std::function<void()>& work);
  // The same with the names of functions. Names that were found are kept for the next call.
  void run_with_symbols(const std::function<void(coroutine::Symbols& symbols)>& work);

  // The first shard, and its parts, when it shares the thread of the node: for tests and programs
  // that make their node themselves. A bug when it has a thread of its own.
  const Shard& shard() const { return shard_at_home(); }
  Router& router() { return shard_at_home().router(); }
  rpc::Tracer& tracer() { return shard_at_home().tracer(); }
  detail::ObjectRouter& object_router() { return shard_at_home().object_router(); }
  const rpc::Server& rpc_server() const { return shard_at_home().rpc_server(); }
  const Telemetry& telemetry() const { return shard_at_home().telemetry(); }
  bool has_control_loop() const { return shard_ == nullptr; }

  // That of the thread of the node.
  coroutine::Scheduler& scheduler() const { return scheduler_; }
  // The classes of objects that it hosts.
  const std::vector<HostedObjects>& hosted() const { return objects_; }
  std::size_t shard_count() const;
  // Runs `work` in a task of each shard, in parallel on their threads; suspends until all have
  // ended, however long one hangs, and returns the first error. Valid from start() on.
  Result<void> on_each_shard(const std::function<Result<void>(Shard& shard)>& work);
  // The same without waiting for shards that hang: from_each_shard() in each_shard.h tells the
  // rule. Returns those shards, by number, where `work` may still run: so it owns what it uses.
  Result<std::vector<detail::ShardSilence>> ask_each_shard(
      const std::function<Result<void>(Shard& shard)>& work);
  // The shards whose loops have not turned for half a second, by number.
  std::vector<detail::ShardSilence> silent_shards() const;
  // For how long the loop of that shard has not turned; zero while it turns.
  Duration silence_of(std::size_t shard) const;
  // The connections of the node to the others, apart from those of its shards.
  detail::NodePeers& peers() { return *peers_; }
  // Null until start().
  const Cluster* cluster() const { return cluster_.get(); }
  Cluster* cluster() { return cluster_.get(); }
  // Null until start().
  const detail::WaitWatch* wait_watch() const { return wait_watch_.get(); }
  // Null unless this node may balance the cluster.
  const detail::Balancing* balancing() const { return balancing_.get(); }
  const Fence& fence() const { return fence_; }
  // Null unless metrics or the log are sent to a collector.
  const detail::NodeExports* exports() const { return exports_.get(); }

 private:
  Shard& shard_at_home() const {
    check(shard_ != nullptr,
          "the first shard has a thread of its own: use the shards that serve() and host() pass");
    return *shard_;
  }
  Shard::Surroundings surroundings();
  Result<void> read_shared_key();
  Result<void> check_objects() const;
  Result<void> leave_objects_to_others();
  Result<void> open_exports();
  Result<void> open_stores();
  Result<void> read_files();
  Result<void> open_shards();
  Result<void> check_reach_of_clients();
  Result<void> join_cluster();
  Result<void> watch_waits();
  Result<std::uint64_t> first_revision(Deadline deadline);
  Result<void> listen_for_operators(const net::Endpoint& endpoint);
  Result<void> listen_for_clients(const NodeEndpoints& endpoints);
  Result<void> listen_for_nodes(Shard& shard, net::Endpoint& bound);
  using Listen = Result<net::Endpoint> (Shard::*)(const net::Endpoint& endpoint, bool shares_port);
  Result<net::Endpoint> listen_on_shards(const net::Endpoint& endpoint, std::string_view key,
                                         Listen listen);
  void warn_of_open_methods();
  void warn_of_unknown_stacks();
  Member member() const;
  bool is_alone() const;
  Result<void> drain(Deadline deadline);
  Result<void> stop_serving(Deadline deadline);
  void close_all(Deadline deadline);
  // Leaves out the shards that hang.
  std::size_t running_call_count();

  NodeConfig config_;  // Shards read it while they are made and opened; a reload writes to it.
  net::Network& network_;
  coroutine::Scheduler& scheduler_;
  const std::unique_ptr<const Parts> parts_;
  const TimePoint created_at_;
  const std::unique_ptr<const OtlpResource> resource_;
  NodeEndpoints endpoints_;
  bool started_ = false;
  bool starting_ = true;
  bool stopping_ = false;
  Log log_;
  std::unique_ptr<detail::LogLoan> log_loan_;
  Fence fence_;
  std::map<Placement, std::unique_ptr<Ownership>> ownerships_;
  std::vector<HostedObjects> objects_;
  std::vector<ObjectType> distant_types_;  // Hosted by other nodes, since this one is an edge.
  bool has_users_ = false;
  rpc::Login login_;
  std::string shared_key_;                       // That of the cluster; read by start().
  std::unique_ptr<const net::HttpFiles> files_;  // For browsers; read by start().
  std::vector<std::function<void(Shard&)>> make_services_;
  std::vector<std::unique_ptr<rpc::Service>> single_services_;  // Until start().
  bool has_single_services_ = false;
  Metrics metrics_;
  std::unique_ptr<detail::StoreHealth> store_health_;
  std::size_t partition_count_ = partition_count_min;  // That of the store.
  std::shared_ptr<Store> shared_store_;                // Null when each shard has its own.
  net::ConnectionBound node_connections_;
  net::ConnectionBound client_connections_;
  const std::unique_ptr<const detail::NodePages> pages_;
  // Destroyed in reverse order, so that no call reaches a destroyed part.
  std::unique_ptr<Shard> shard_;  // The first one, at home; null when it has a thread.
  std::unique_ptr<detail::ShardSet> shards_;
  std::unique_ptr<detail::ShardPulse> pulse_;  // Null until the shards are open.
  std::unique_ptr<detail::NodePeers> peers_;
  std::shared_ptr<Directory> directory_;
  std::unique_ptr<detail::NodeTenants> tenants_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<detail::Balancing> balancing_;
  std::unique_ptr<detail::WaitWatch> wait_watch_;
  std::unique_ptr<detail::FenceWatchdog> watchdog_;  // Null when no other node can take over.
  std::unique_ptr<detail::StallWatchdog> stall_watchdog_;
  std::unique_ptr<detail::NodeHistory> history_;
  std::unique_ptr<coroutine::Symbols> symbols_;  // Used by run_with_symbols() alone.
  std::unique_ptr<detail::SideThread> side_thread_;
  std::unique_ptr<detail::DoorNetwork> admin_network_;
  std::unique_ptr<AdminServer> admin_;
  std::unique_ptr<detail::NodeExports> exports_;  // Null when nothing is sent from this thread.
};

}  // namespace corolane::framework
