// SPDX-License-Identifier: MIT
// Boots nodes on hosts, routes their clients, and checks invariants.
#include "framework/testing/cluster.h"

#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "framework/cluster/detail/seeded_bugs.h"
#include "framework/node/node_parts.h"
#include "framework/pages/admin_pages.h"
#include "framework/testing/host.h"
#include "framework/testing/host_loops.h"
#include "framework/wire/objects.pb.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t client_port = 8460;
constexpr std::uint16_t admin_port = 8461;
constexpr std::uint16_t cluster_port = 8470;
constexpr Duration stop_time_max = 5s;
// How soon a client gives up a server that does not answer, or does not reach an owner.
constexpr std::chrono::milliseconds client_patience = 500ms;
constexpr std::uint64_t knobs_concern = 10'000;
constexpr std::uint64_t mode_concern = 20'000'000;
constexpr std::uint64_t shards_concern = 30'000'000;
constexpr std::uint64_t control_concern = 40'000'000;
constexpr Duration look_interval = 100ms;
constexpr const char* mark_of_failed_start = "a node cannot start, and is started again";
constexpr const char* mark_of_retried_call = "a call is retried and answered";

framework::Fence::Clock fence_clock() {
  if (COROLANE_SEEDED_BUG(fence_from_cached_time)) {
    return [] { return coroutine::Scheduler::current().turn_time(); };
  }
  if (COROLANE_SEEDED_BUG(reply_after_fence)) return [] { return TimePoint(); };
  return corolane::now;
}

}  // namespace

// A node's host, and the node while it runs.
struct SimulatedCluster::Process final : framework::Witness {
  Process(SimulatedCluster& its_cluster, Host& its_host) : cluster(its_cluster), host(its_host) {}

  void on_reply(const framework::OwnerReply& reply) override {
    if (host.is_alive()) cluster.checker_.on_reply(number, reply);
  }
  void on_call(const framework::OwnerCall& call) override {
    if (host.is_alive()) cluster.checker_.on_call_out(call);
  }

  SimulatedCluster& cluster;
  Host& host;
  std::uint64_t number = 0;  // Identifies this life of the node.
  framework::Node* node = nullptr;
  coroutine::Event* leave = nullptr;
  bool is_wanted = true;  // False after the test has ended it.
};

class SimulatedCluster::ClientCalls final : public framework::CallObserver {
 public:
  explicit ClientCalls(SimulatedCluster& cluster) : cluster_(cluster) {}

  void on_call(const framework::CallRecord& record, const google::protobuf::Message&,
               const google::protobuf::Message&) override {
    Simulation& simulation = cluster_.simulation_;
    simulation.trace().add(simulation.now(), record.caller, "called", [&] {
      return std::string(record.method->full_name) + " of \"" + std::string(record.object) + "\" " +
             std::to_string(record.sequence) + ", " +
             (record.failure ? std::string(to_string(*record.failure)) : std::string("ok")) +
             " after " + std::to_string(record.errors.size()) + " errors";
    });
    if (!record.errors.empty() && !record.failure) cluster_.sometimes(mark_of_retried_call);
    cluster_.checker_.on_call(record);
  }

 private:
  SimulatedCluster& cluster_;
};

SimulatedCluster::SimulatedCluster(const Options& options, SetUp set_up)
    : options_(options),
      set_up_(std::move(set_up)),
      simulation_({.seed = options.seed, .shuffles = options.shuffles}),
      fabric_(simulation_, options.network),
      directory_(simulation_, fabric_),
      checker_(
          [this](framework::Partition partition) { return directory_.owner_of({}, partition); },
          [this](std::string violation) { violated(std::move(violation)); }),
      store_(simulation_, fabric_, &checker_),
      clients_(simulation_.add_host("clients")),
      client_calls_(std::make_unique<ClientCalls>(*this)) {
  store_.set_partition_count(options_.partition_count);
  if (options_.reader != nullptr) simulation_.trace().set_reader(options_.reader);
  clients_.start([this] {
    static_cast<void>(coroutine::sleep_until(Deadline::never()));
    clients_.end_tasks();
    routers_.clear();
  });
  static_cast<void>(fabric_.network_of(clients_));
  for (std::size_t i = 0; i < options_.nodes; ++i) {
    Host& host = simulation_.add_host("node-" + std::to_string(i));
    nodes_.push_back(std::make_unique<Process>(*this, host));
    servers_.push_back({.host = Fabric::address_of(host), .port = client_port});
    static_cast<void>(fabric_.network_of(host));
    boot(i);
  }
  simulation_.set_on_step([this] {
    if (simulation_.now() >= look_at_) look_at_invariants();
  });
}

SimulatedCluster::~SimulatedCluster() {
  if (options_.on_end != nullptr) options_.on_end(*this);
  is_over_ = true;
  simulation_.set_on_step(nullptr);
  for (const auto& node : nodes_) node->host.kill();
  clients_.kill();
}

void SimulatedCluster::boot(std::size_t node) {
  Process& process = *nodes_[node];
  process.number = ++process_count_;
  process.host.start([this, node] { live(node); });
}

// The main function of a node's process.
void SimulatedCluster::live(std::size_t index) {
  Process& process = *nodes_[index];
  framework::NodeConfig config;
  config.name = process.host.name();
  const std::string address = Fabric::address_of(process.host);
  config.clients.listen = address + ":" + std::to_string(client_port);
  config.clients.login.anonymous = true;
  config.admin.listen = "127.0.0.1:" + std::to_string(admin_port);
  config.cluster.listen = address + ":" + std::to_string(cluster_port);
  if (index < options_.edges) config.cluster.roles = {std::string(framework::edge_role)};
  test::Random dice = simulation_.dice(shards_concern + process.number);
  config.shards = options_.shards.value_or(1U << dice.below(3));
  // A real node has a control loop. Without one, as in tests and recordings, the node decides
  // between the calls of its first shard, which is another order of events.
  const bool has_control_loop = simulation_.dice(control_concern + process.number).one_in(2);
  // Nodes of both kinds belong to one cluster.
  config.cluster.without_directory =
      options_.without_directory.value_or(simulation_.dice(mode_concern + process.number).one_in(2)
                                              ? framework::WithoutDirectory::serve
                                              : framework::WithoutDirectory::refuse);
  // Simulated clients call objects directly, the chess objects included.
  config.clients.public_methods_only = false;
  const bool is_traced = simulation_.trace().is_read();
  framework::Log log(is_traced ? framework::LogLevel::debug : framework::LogLevel::error,
                     [this, &process](std::string_view line) {
                       simulation_.trace().tell(simulation_.now(), process.host.name(), "log",
                                                std::string(line.substr(line.find('Z') + 1)));
                     });
  framework::Cluster::Options cluster = cluster_options(process.number);
  framework::Node node(
      config, fabric_.network_of(process.host), std::move(log),
      {.store = store_.store_of(process.host),
       .directory = directory_.directory_of(process.host),
       .clock = fence_clock(),
       .cluster = cluster,
       .witness = &process,
       .shard_loops = std::make_shared<HostLoops>(fabric_, process.host, has_control_loop),
       .has_control_loop = has_control_loop});
  framework::add_node_pages(node.admin(), node);
  set_up_(node);
  coroutine::Event leave("the shutdown of a node");
  process.leave = &leave;
  process.node = &node;
  const bool has_started = node.start().has_value();
  if (has_started && leave.wait(Deadline::never())) {
    static_cast<void>(node.stop(Deadline::after(stop_time_max)));
  }
  process.node = nullptr;
  process.leave = nullptr;
  if (!process.host.is_alive() || !process.is_wanted) return;
  if (!has_started) sometimes(mark_of_failed_start);
  simulation_.at(simulation_.now() + options_.restart_after, [this, index] {
    if (nodes_[index]->is_wanted && !nodes_[index]->host.is_alive()) boot(index);
  });
}

// Draws every setting that does not affect safety anew for each life of each node.
framework::Cluster::Options SimulatedCluster::cluster_options(std::uint64_t life) {
  test::Random dice = simulation_.dice(knobs_concern + life);
  framework::Cluster::Options options;
  if (dice.one_in(2)) return options;
  options.membership.keepalive_time_max = 500ms + dice.up_to(5s);
  options.partitions.claim_count_max = 1 + dice.below(60);
  options.partitions.hand_over_count_max = 1 + dice.below(60);
  options.partitions.commit_time_max = 500ms + dice.up_to(3s);
  options.partitions.hand_over_interval = dice.up_to(500ms);
  options.resync_interval = 2s + dice.up_to(60s);
  return options;
}

void SimulatedCluster::run_for(Duration duration) {
  static_cast<void>(run_until([] { return false; }, duration));
}

bool SimulatedCluster::run_until(const std::function<bool()>& is_done, Duration at_most) {
  const auto ends = [&] { return !violations_.empty() || is_done(); };
  static_cast<void>(simulation_.run_until(ends, simulation_.now() + at_most));
  look_at_invariants();
  return violations_.empty() && is_done();
}

bool SimulatedCluster::run(std::string_view name, std::function<void()> client, Duration at_most) {
  const auto is_done = std::make_shared<bool>(false);
  spawn(name, [client = std::move(client), is_done] {
    client();
    *is_done = true;
  });
  return run_until([is_done] { return *is_done; }, at_most);
}

void SimulatedCluster::spawn(std::string_view name, std::function<void()> client) {
  ++running_clients_;
  clients_.post([this, name = std::string(name), client = std::move(client)] {
    clients_.spawn(name, [this, client] {
      client();
      --running_clients_;
    });
  });
}

framework::Router& SimulatedCluster::router(const std::string& caller) {
  return router(caller, /*has_request_ids=*/true);
}

framework::Router& SimulatedCluster::router_without_ids(const std::string& caller) {
  return router(caller, /*has_request_ids=*/false);
}

framework::Router& SimulatedCluster::router(const std::string& caller, bool has_request_ids) {
  auto& router = routers_[{caller, has_request_ids}];
  if (router == nullptr) {
    router = std::make_unique<framework::ClusterClient>(
        network(), servers_,
        framework::ClusterClient::Options{
            .connection = {.connect_time_max = client_patience,
                           .keepalive = {.interval = client_patience, .patience = client_patience},
                           .random_seed = routers_.size()},
            .keeps_session = false,
            .failing_time_max = client_patience,
            .has_request_ids = has_request_ids,
            .caller = caller,
            .observer = client_calls_.get(),
            .clock = corolane::now});
  }
  return *router;
}

net::Network& SimulatedCluster::network() { return fabric_.network_of(clients_); }

Host& SimulatedCluster::node_host(std::size_t node) { return nodes_[node]->host; }

framework::Node* SimulatedCluster::node(std::size_t node) { return nodes_[node]->node; }

std::optional<std::size_t> SimulatedCluster::owner_of(std::string_view type,
                                                      std::string_view id) const {
  const std::string owner =
      directory_.owner_name({}, framework::partition_of(type, id, store_.partition_count()));
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (owner.starts_with(nodes_[i]->host.name() + ".")) return i;
  }
  return std::nullopt;
}

bool SimulatedCluster::is_running(std::size_t node) const { return nodes_[node]->host.is_alive(); }

void SimulatedCluster::crash(std::size_t node) {
  nodes_[node]->is_wanted = false;
  nodes_[node]->host.kill();
}

void SimulatedCluster::switch_off(std::size_t node) {
  fabric_.switch_off(nodes_[node]->host);
  crash(node);
}

void SimulatedCluster::stop(std::size_t node) {
  Process& process = *nodes_[node];
  process.is_wanted = false;
  if (!process.host.is_alive()) return;
  process.host.post([&process] {
    if (process.leave != nullptr) process.leave->set();
  });
}

void SimulatedCluster::restart(std::size_t node) {
  nodes_[node]->is_wanted = true;
  if (!is_running(node)) boot(node);
}

void SimulatedCluster::pause(std::size_t node, Duration duration) {
  nodes_[node]->host.pause_until(simulation_.now() + duration);
}

void SimulatedCluster::skew_clock(std::size_t node, std::int64_t parts_per_million,
                                  Duration time_of_day) {
  nodes_[node]->host.set_drift(parts_per_million);
  nodes_[node]->host.set_time_of_day_off(time_of_day);
}

void SimulatedCluster::partition(std::initializer_list<std::size_t> a,
                                 std::initializer_list<std::size_t> b) {
  for (const std::size_t near : a) {
    for (const std::size_t far : b) {
      if (!parted_.emplace(near, far).second) continue;
      fabric_.cut(nodes_[near]->host, nodes_[far]->host);
      fabric_.cut(nodes_[far]->host, nodes_[near]->host);
    }
  }
}

void SimulatedCluster::heal() {
  for (const auto& [near, far] : std::exchange(parted_, {})) {
    fabric_.mend(nodes_[near]->host, nodes_[far]->host);
    fabric_.mend(nodes_[far]->host, nodes_[near]->host);
  }
}

std::string SimulatedCluster::stored_state(std::string_view type, std::string_view id) const {
  framework::ObjectRecord record;
  record.ParseFromString(store_.table().look({.type = type, .id = id}).object.bytes);
  return record.state();
}

void SimulatedCluster::invariant(std::string name, Invariant invariant) {
  invariants_.emplace_back(std::move(name), std::move(invariant));
}

void SimulatedCluster::look_at_invariants() {
  look_at_ = simulation_.now() + look_interval;
  if (!violations_.empty()) return;
  for (const auto& [name, invariant] : invariants_) {
    if (std::string what = invariant(); !what.empty()) {
      violated(std::string(name).append(": ").append(what));
    }
  }
}

void SimulatedCluster::violated(std::string what) {
  if (is_over_) return;  // Cancelled clients report false violations.
  simulation_.trace().add(simulation_.now(), "", "violated", [&] { return what; });
  if (simulation_.trace().is_read() && violations_.empty()) tell_tasks();
  violations_.push_back(std::move(what));
}

// Writes the tasks of all nodes to the trace, for debugging.
void SimulatedCluster::tell_tasks() {
  for (const auto& node : nodes_) {
    simulation_.trace().tell(simulation_.now(), node->host.name(), "tasks",
                             "\n" + node->host.tasks_text());
  }
}

void SimulatedCluster::sometimes(const std::string& what, bool happened) {
  bool& mark = marks_[what];
  mark = mark || happened;
}

}  // namespace corolane::sim
