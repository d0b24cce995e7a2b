// A whole cluster in one test: real nodes, their clients, network, directory and store, in one
// thread and simulated time, all of it from a seed.
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
// The nodes are those of production, with a simulated network, clock, randomness, directory and
// store. What clients do runs as tasks of one more host; the test itself runs outside, and no time
// passes but in run_for() and its like. Two runs of one seed are the same, step by step: hash()
// tells.
//
// Besides the test's own invariants, those of ownership that need nothing of what objects mean are
// looked at all the time (ownership_checker.h): run_for() returns early when one is violated.
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

#include "framework/cluster/seeded_bugs.h"
#include "framework/node/node.h"
#include "framework/routing/remote_router.h"
#include "framework/testing/directory_server.h"
#include "framework/testing/fabric.h"
#include "framework/testing/ownership_checker.h"
#include "framework/testing/simulation.h"
#include "framework/testing/store_server.h"
#include "net/endpoint.h"

namespace corolane::sim {

class SimulatedCluster {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::size_t nodes = 3;
    bool shuffles = true;  // The order of ready tasks; otherwise that in which they became ready.
    Fabric::Options network = {};
    // A node whose process ends by itself, since it could not start, is started again after that.
    Duration restart_after = std::chrono::seconds(1);
    framework::SeededBugs bugs = {};
  };
  // Tells a node what to serve and to host, each time that it starts.
  using SetUp = std::function<void(framework::Node& node)>;
  // What is wrong; empty when nothing is.
  using Invariant = std::function<std::string()>;

  // The nodes start at once, and serve a few seconds later.
  SimulatedCluster(const Options& options, SetUp set_up);
  ~SimulatedCluster();
  SimulatedCluster(const SimulatedCluster&) = delete;
  SimulatedCluster& operator=(const SimulatedCluster&) = delete;

  // Lets so much time pass, less when something is violated.
  void run_for(Duration duration);
  // Until that holds, at most so long. False when it did not.
  bool run_until(const std::function<bool()>& is_done, Duration at_most);
  // Runs a client until it has returned, at most so long. False when it has not.
  bool run(std::string_view name, std::function<void()> client,
           Duration at_most = std::chrono::minutes(10));
  // Begins one. What it refers to outlives the cluster.
  void spawn(std::string_view name, std::function<void()> client);
  // Whether all that were begun have returned.
  bool are_clients_done() const { return running_clients_ == 0; }

  // The way to objects for one caller who makes one call at a time: with request ids, by any node
  // that answers. A client with a name that nobody else has; lives as long as the cluster.
  framework::Router& router(const std::string& caller);
  // The same without request ids: what may have been executed is not tried again.
  framework::Router& router_without_ids(const std::string& caller);
  // The network of the clients, and where nodes listen for them, for clients of other kinds.
  net::Network& network();
  const std::vector<net::HostPort>& servers() const { return servers_; }

  // The process dies, and is started again by restart().
  void crash(std::size_t node);
  // So does the whole machine: nobody is told.
  void switch_off(std::size_t node);
  // Drains it and ends it, as an operator does.
  void stop(std::size_t node);
  // One that has ended or was crashed.
  void restart(std::size_t node);
  bool is_running(std::size_t node) const;
  // It does nothing for so long.
  void pause(std::size_t node, Duration duration);
  // Its clock goes faster by so many millionths from now on, and its time of day is off by so much.
  void skew_clock(std::size_t node, std::int64_t parts_per_million, Duration time_of_day);
  // Nodes of different groups do not hear of each other; directory, store and clients are heard.
  void partition(std::initializer_list<std::size_t> a, std::initializer_list<std::size_t> b);
  // Whole again, however often it was parted.
  void heal();

  // For other faults.
  Fabric& fabric() { return fabric_; }
  StoreServer& store() { return store_; }
  DirectoryServer& directory() { return directory_; }
  Simulation& simulation() { return simulation_; }
  std::size_t node_count() const { return nodes_.size(); }
  Host& node_host(std::size_t node);
  Host& client_host() { return clients_; }
  // Null while it does not run.
  framework::Node* node(std::size_t node);
  // Which node the directory has as the owner of that object; nothing when nobody ever was.
  std::optional<std::size_t> owner_of(std::string_view type, std::string_view id) const;

  // The state of an object as it is stored: what was never stored is empty.
  template <typename State>
  State stored(std::string_view type, std::string_view id) const {
    State state;
    state.ParseFromString(stored_state(type, id));
    return state;
  }

  // Looked at ten times a second, outside of all hosts, and at the end.
  void invariant(std::string name, Invariant invariant);
  // Reports what a client has found wrong.
  void violated(std::string what);
  const std::vector<std::string>& violations() const { return violations_; }

  // Marks that something rare has happened; says that it is to happen, in one of many runs at
  // least, where it is said with `happened` false.
  void sometimes(const std::string& what, bool happened = true);
  // What was marked, and whether it happened.
  const std::map<std::string, bool>& marks() const { return marks_; }

  // Of all that has happened.
  std::uint64_t hash() { return simulation_.trace().hash(); }
  const OwnershipChecker& checker() const { return checker_; }

 private:
  struct Process;
  class ClientCalls;

  framework::Router& router(const std::string& caller, bool has_request_ids);
  void boot(std::size_t node);
  void live(std::size_t node);
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
  std::map<std::pair<std::string, bool>, std::unique_ptr<framework::RemoteRouter>> routers_;
  std::size_t running_clients_ = 0;
  std::uint64_t process_count_ = 0;
  std::set<std::pair<std::size_t, std::size_t>> parted_;
  std::vector<std::pair<std::string, Invariant>> invariants_;
  TimePoint look_at_{};
  std::vector<std::string> violations_;
  bool is_over_ = false;
  std::map<std::string, bool> marks_;
};

}  // namespace corolane::sim
