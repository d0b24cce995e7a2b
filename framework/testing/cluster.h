// SPDX-License-Identifier: MIT
// A whole cluster in one test: real nodes, their clients, network, directory and store run in one
// thread and simulated time, and a seed decides everything.
//
//   SimulatedCluster cluster({.seed = 7, .nodes = 3}, [](framework::Node& node) {
//     node.host<Account>();
//   });
//   cluster.invariant("gold is conserved", [&] { return gold_is_missing(cluster); });
//   cluster.spawn("alice", [&] { AccountClient(cluster.router("alice"), "a").pay(request); });
//   cluster.run_for(5s);
//   cluster.crash(1);
//   cluster.run_for(60s);
//   EXPECT_THAT(cluster.violations(), IsEmpty());
//
// The nodes run production code on a simulated network, clock, randomness, directory and store.
// Clients run as tasks of one more host. The test itself runs outside of all hosts, and time passes
// only in run_for() and its like. Two runs of one seed are the same, step by step: their hash() is
// equal.
//
// Besides the test's own invariants, the cluster checks the invariants of ownership that do not
// depend on what objects mean (ownership_checker.h). run_for() returns early when one is violated.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "framework/client/cluster_client.h"
#include "framework/cluster/cluster.h"
#include "framework/node/node.h"
#include "framework/testing/directory_server.h"
#include "framework/testing/fabric.h"
#include "framework/testing/ownership_checker.h"
#include "framework/testing/section_crashes.h"
#include "framework/testing/simulation.h"
#include "framework/testing/store_server.h"
#include "net/endpoint.h"

namespace corolane::sim {

class SimulatedCluster {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::size_t nodes = 3;
    // The first of them have the role edge, and host no objects.
    std::size_t edges = 0;
    std::size_t partition_count = framework::partition_count_min;
    // Each node has that many; empty: the seed decides, for each life of each node, up to four.
    std::optional<std::uint32_t> shards = 1;
    bool shuffles = true;  // Ready tasks run in any order, instead of first come, first served.
    Fabric::Options network = {};
    // A node that could not start, so that its process ended, is restarted after this time.
    Duration restart_after = std::chrono::seconds(1);
    // What nodes do without their directory; empty: the seed decides, for each life of each node.
    std::optional<framework::WithoutDirectory> without_directory = {};
    // Receives each event; null: nothing is traced.
    Trace::Reader reader = nullptr;
    // Called when the cluster is about to be destroyed; may be null.
    std::function<void(SimulatedCluster& cluster)> on_end = nullptr;
  };
  // Registers the services and objects of a node, each time that it starts.
  using SetUp = std::function<void(framework::Node& node)>;
  // Returns a description of the violation; empty when the invariant holds.
  using Invariant = std::function<std::string()>;

  // The nodes start at once, and serve a few seconds later.
  SimulatedCluster(const Options& options, SetUp set_up);
  ~SimulatedCluster();
  SimulatedCluster(const SimulatedCluster&) = delete;
  SimulatedCluster& operator=(const SimulatedCluster&) = delete;

  // Advances simulated time by `duration`, or less when an invariant is violated.
  void run_for(Duration duration);
  // Runs until `is_done` returns true, for `at_most` that long. Returns false when it did not.
  bool run_until(const std::function<bool()>& is_done, Duration at_most);
  // Runs a client until it has returned, for `at_most` that long. Returns false when it has not.
  bool run(std::string_view name, std::function<void()> client,
           Duration at_most = std::chrono::minutes(10));
  // Starts a client. Everything that it refers to outlives the cluster.
  void spawn(std::string_view name, std::function<void()> client);
  // Whether all clients have returned.
  bool are_clients_done() const { return running_clients_ == 0; }

  // Routes the calls of one caller to objects: with request ids, through any node that answers.
  // `caller` is a unique name. The router lives as long as the cluster.
  framework::Router& router(const std::string& caller);
  // The same without request ids: a call that may have been executed is not retried.
  framework::Router& router_without_ids(const std::string& caller);
  // For other kinds of clients: their network, and the addresses where nodes listen for clients.
  net::Network& network();
  const std::vector<net::HostPort>& servers() const { return servers_; }

  // Kills the process; restart() starts it again.
  void crash(std::size_t node);
  // Switches the whole machine off: its peers get no notice.
  void switch_off(std::size_t node);
  // Drains the node and ends it, as an operator does.
  void stop(std::size_t node);
  // Starts a node that has ended or was crashed.
  void restart(std::size_t node);
  bool is_running(std::size_t node) const;
  // The node stands still for `duration`.
  void pause(std::size_t node, Duration duration);
  // From now on the node's clock runs fast by `parts_per_million`, and its time of day is off by
  // `time_of_day`.
  void skew_clock(std::size_t node, std::int64_t parts_per_million, Duration time_of_day);
  // Cuts the links between nodes of different groups; those to directory, store and clients stay
  // up.
  void partition(std::initializer_list<std::size_t> a, std::initializer_list<std::size_t> b);
  // Repairs all partitions at once.
  void heal();

  // For tests that inject other faults.
  SectionCrashes& sections() { return sections_; }
  Fabric& fabric() { return fabric_; }
  StoreServer& store() { return store_; }
  DirectoryServer& directory() { return directory_; }
  Simulation& simulation() { return simulation_; }
  const Simulation& simulation() const { return simulation_; }
  std::size_t node_count() const { return nodes_.size(); }
  Host& node_host(std::size_t node);
  Host& client_host() { return clients_; }
  // Null while the node does not run.
  framework::Node* node(std::size_t node);
  // The owner of the object according to the directory; empty when it never had one.
  std::optional<std::size_t> owner_of(std::string_view type, std::string_view id) const;

  // The stored state of an object; the default state when it was never stored.
  template <typename State>
  State stored(std::string_view type, std::string_view id) const {
    State state;
    state.ParseFromString(stored_state(type, id));
    return state;
  }

  // Adds an invariant. It is checked ten times a second, outside of all hosts, and at the end.
  void invariant(std::string name, Invariant invariant);
  // Reports a violation that a client has found.
  void violated(std::string what);
  const std::vector<std::string>& violations() const { return violations_; }

  // Marks that something rare has happened. With `happened` false it declares the mark: at least
  // one of many runs must reach it.
  void sometimes(const std::string& what, bool happened = true);
  // All declared marks, and whether each was reached.
  const std::map<std::string, bool>& marks() const { return marks_; }

  // The hash of the whole run so far.
  std::uint64_t hash() { return simulation_.trace().hash(); }
  const OwnershipChecker& checker() const { return checker_; }

 private:
  struct Process;
  class ClientCalls;

  framework::Router& router(const std::string& caller, bool has_request_ids);
  void boot(std::size_t node);
  void live(std::size_t index);
  framework::Cluster::Options cluster_options(std::uint64_t life);
  void look_at_invariants();
  void tell_tasks();
  std::string stored_state(std::string_view type, std::string_view id) const;

  const Options options_;
  const SetUp set_up_;
  Simulation simulation_;
  Fabric fabric_;
  DirectoryServer directory_;
  OwnershipChecker checker_;
  StoreServer store_;
  Host& clients_;
  std::unique_ptr<ClientCalls> client_calls_;
  std::vector<std::unique_ptr<Process>> nodes_;
  std::vector<net::HostPort> servers_;
  std::map<std::pair<std::string, bool>, std::unique_ptr<framework::ClusterClient>> routers_;
  std::size_t running_clients_ = 0;
  std::uint64_t process_count_ = 0;
  std::set<std::pair<std::size_t, std::size_t>> parted_;
  std::vector<std::pair<std::string, Invariant>> invariants_;
  TimePoint look_at_{};
  std::vector<std::string> violations_;
  bool is_over_ = false;
  std::map<std::string, bool> marks_;
  SectionCrashes sections_{*this};
};

}  // namespace corolane::sim
