// SPDX-License-Identifier: MIT
#include "framework/node/node.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>

#include "config/keys.h"
#include "coroutine/base/check.h"
#include "coroutine/inspect/symbols.h"
#include "framework/admin/admin.h"
#include "framework/cluster/detail/fence_watchdog.h"
#include "framework/diagnostics/detail/stall_watchdog.h"
#include "framework/edge/detail/user_sessions.h"
#include "framework/node/detail/balancing.h"
#include "framework/node/detail/door_network.h"
#include "framework/node/detail/node_exports.h"
#include "framework/node/detail/node_history.h"
#include "framework/node/detail/node_pages.h"
#include "framework/node/detail/node_peers.h"
#include "framework/node/detail/node_tenants.h"
#include "framework/node/detail/secret_file.h"
#include "framework/node/detail/shard_pulse.h"
#include "framework/node/detail/shard_set.h"
#include "framework/node/detail/side_thread.h"
#include "framework/node/detail/wait_watch.h"
#include "framework/node/each_shard.h"
#include "framework/node/node_metrics.h"
#include "framework/node/node_parts.h"
#include "framework/store/detail/store_gate.h"
#include "framework/telemetry/detail/log_loan.h"
#include "framework/telemetry/otlp_json.h"
#include "framework/telemetry/telemetry.h"
#include "net/http/http_files.h"
#include "rpc/server/server.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;

// The time for sending the last spans, metrics and lines, when the calls took all of the time.
constexpr Duration last_spans_time_max = 250ms;
// The time for storing the last changes, when the calls took all of the time.
constexpr Duration last_writes_time_max = 500ms;
// The time for telling the directory that the node leaves.
constexpr Duration last_words_time_max = 1s;

// The time for clients to go to other nodes, with their sessions.
constexpr Duration dismissal_time_max = 5s;

// One for each shard of each other node, and as many again for connections that are being replaced:
// 2,000 nodes of 16 shards. Strangers count as well until they are asked for the key.
constexpr std::size_t node_connections_max = 65'536;

net::AddressShares::Limits connection_limits(const ClientsConfig& config) {
  return {.count_max = config.connections_max, .share_percent = config.address_share};
}

}  // namespace

Node::Node(const NodeConfig& config, net::Network& network)
    : Node(config, network, Log(config.log_level)) {}

Node::Node(NodeConfig config, net::Network& network, Log log)
    : Node(std::move(config), network, std::move(log), Parts{}) {}

Node::Node(NodeConfig config, net::Network& network, Log log, Parts parts)
    : config_(std::move(config)),
      network_(network),
      scheduler_(coroutine::Scheduler::current()),
      parts_(std::make_unique<const Parts>(std::move(parts))),
      created_at_(now()),
      resource_(std::make_unique<const OtlpResource>(
          config_.otlp.endpoint.empty() ? OtlpResource{.service_name = config_.name}
                                        : this_process(config_.name, config_.cluster.name))),
      log_(std::move(log)),
      log_loan_(std::make_unique<detail::LogLoan>(log_)),
      fence_(parts_->clock),
      store_health_(std::make_unique<detail::StoreHealth>()),
      node_connections_({.count_max = node_connections_max}),
      client_connections_(connection_limits(config_.clients)),
      pages_(std::make_unique<const detail::NodePages>(
          scheduler_, [this](const std::string& target) { return admin_->get(target); })),
      shard_(parts_->has_control_loop ? nullptr
                                      : std::make_unique<Shard>(0, surroundings(), network)),
      shards_(std::make_unique<detail::ShardSet>(shard_.get())),
      peers_(std::make_unique<detail::NodePeers>(network)),
      symbols_(std::make_unique<coroutine::Symbols>()),
      admin_network_(std::make_unique<detail::DoorNetwork>(network, "node.admin.tls")),
      admin_(std::make_unique<AdminServer>(network)) {
  add_node_metrics(metrics_, *this);
  if (config_.otlp.endpoint.empty() || !check_otlp(config_.otlp)) return;
  if (!config_.otlp.metrics && !config_.otlp.logs) return;
  exports_ = std::make_unique<detail::NodeExports>(network, config_.otlp, *resource_, log_,
                                                   [this] { return collect_metrics(*this); });
}

Shard::Surroundings Node::surroundings() {
  return {.config = config_,
          .resource = *resource_,
          .log = log_,
          .objects = objects_,
          .shared_key = shared_key_,
          .store_health = *store_health_,
          .client_connections = client_connections_,
          .login = login_,
          .files = files_,
          .pages = *pages_,
          .wall_clock = parts_->wall_clock,
          .witness = parts_->witness};
}

bool Node::is_alone() const {
  return config_.cluster.directory == DirectoryKind::local && !parts_->directory;
}

Node::~Node() {
  if (!stopping_) close_all(Deadline::passed());
}

void Node::serve(std::unique_ptr<rpc::Service> service) {
  check(!started_, "services are served before the node starts");
  has_single_services_ = true;
  single_services_.push_back(std::move(service));
}

void Node::host_users(const UserOptions& users, const HostOptions& options) {
  check(users.devices_max >= 1, "a user may have a session");
  has_users_ = true;
  host<detail::UserSessions>(
      [users](Shard& shard) {
        return std::make_unique<detail::UserSessions>(users, shard.sessions());
      },
      options);
}

void Node::observe() {
  side_thread_ = std::make_unique<detail::SideThread>(scheduler());
  keep_history();
  if (config_.stall_time_min == Duration::zero()) return;
  std::vector<coroutine::Scheduler*> schedulers;
  for (std::size_t i = 0; i < shard_count(); ++i) schedulers.push_back(&shards_->scheduler_of(i));
  // Its number is the one after the last shard, as in the ids of tasks.
  if (has_control_loop()) schedulers.push_back(&scheduler_);
  stall_watchdog_ = std::make_unique<detail::StallWatchdog>(
      std::move(schedulers),
      detail::StallWatchdog::Options{.stall_time_min = config_.stall_time_min,
                                     .control_is_last = has_control_loop()},
      log_);
}

void Node::keep_history() {
  history_ = std::make_unique<detail::NodeHistory>(*this, *shards_);
  if (auto started = history_->start(); !started) {
    log_.warning("no history is kept", {{"error", started.error().message()}});
  }
}

void Node::run_beside(const std::function<void()>& work) {
  if (side_thread_ == nullptr) return work();
  side_thread_->run(work);
}

void Node::run_with_symbols(const std::function<void(coroutine::Symbols& symbols)>& work) {
  run_beside([&] {
    work(*symbols_);
    symbols_->rest();
  });
}

Result<void> Node::reload(const NodeConfig& config,
                          const std::function<void(Shard& shard)>& together) {
  // Those that turn would change, and this one would later.
  if (const auto silent = silent_shards(); !silent.empty()) {
    return Error(Code::unavailable,
                 "shard " + std::to_string(silent.front().shard) + " hangs: see /stalls");
  }
  const NodeConfig next = config::with_live(config_, config);
  auto prepared = shards_->on_each([](Shard& shard) { return shard.prepare_change(); });
  if (!prepared) return prepared;
  if (prepared = admin_network_->prepare_change(); !prepared) return prepared;
  if (prepared = peers_->prepare_change(); !prepared) return prepared;
  if (exports_ != nullptr) {
    auto headers = detail::read_secret(config_.otlp.headers_file, "node.otlp.headers_file");
    if (!headers) return headers.error();
    if (prepared = exports_->prepare_change(*headers); !prepared) return prepared;
    exports_->change();
  }
  admin_network_->change();
  peers_->change();
  shards_->between_turns([&](Shard& shard) {
    shard.change(next);
    if (together) together(shard);
  });
  if (next.log_level != config_.log_level) log_loan_->configure(next.log_level);
  client_connections_.set_limits(connection_limits(next.clients));
  config_ = next;
  return {};
}

Result<void> Node::on_each_shard(const std::function<Result<void>(Shard& shard)>& work) {
  return shards_->on_each(work);
}

Result<std::vector<detail::ShardSilence>> Node::ask_each_shard(
    const std::function<Result<void>(Shard& shard)>& work) {
  if (pulse_ != nullptr) return pulse_->ask_each(work);
  // There are no threads yet.
  if (auto looked = shards_->on_each(work); !looked) return looked.error();
  return std::vector<detail::ShardSilence>();
}

std::vector<detail::ShardSilence> Node::silent_shards() const {
  return pulse_ == nullptr ? std::vector<detail::ShardSilence>() : pulse_->silent_shards();
}

Duration Node::silence_of(std::size_t shard) const {
  return pulse_ == nullptr ? Duration::zero() : pulse_->silence_of(shard);
}

std::size_t Node::shard_count() const { return shards_->count(); }

Result<void> Node::drain(Deadline deadline) {
  if (cluster_ == nullptr || is_alone()) return {};
  return cluster_->drain(deadline, [this, last = std::size_t{0}](std::size_t left) mutable {
    if (last != 0 && left > last - std::min<std::size_t>(last, 64)) return;
    last = left;
    log_.info("handing over", {{"partitions_left", left}});
  });
}

// All shards stop in parallel: each waits for its clients to leave.
Result<void> Node::stop_serving(Deadline deadline) {
  const Deadline dismissed_by = earlier(deadline, Deadline::after(dismissal_time_max));
  static_cast<void>(shards_->on_each([dismissed_by](Shard& shard) -> Result<void> {
    shard.dismiss_clients(dismissed_by);
    return {};
  }));
  auto stopped =
      shards_->on_each([deadline](Shard& shard) { return shard.stop_serving(deadline); });
  static_cast<void>(shards_->on_each([](Shard& shard) -> Result<void> {
    shard.stop_calls();
    return {};
  }));
  const Deadline stored_by = std::max(deadline, Deadline::after(last_writes_time_max));
  auto stored =
      shards_->on_each([stored_by](Shard& shard) { return shard.stop_objects(stored_by); });
  return stopped ? stored : stopped;
}

// Closes the parts that are open.
void Node::close_all(Deadline deadline) {
  balancing_.reset();
  if (wait_watch_ != nullptr) wait_watch_->stop();
  static_cast<void>(stop_serving(deadline));
  if (cluster_ != nullptr) cluster_->stop(Deadline::after(last_words_time_max));
  admin_->stop();
}

std::size_t Node::running_call_count() {
  const auto counts = from_each_shard(
      *this, [](const Shard& shard) { return shard.rpc_server().statistics().running_count; });
  if (!counts) return 0;
  return std::accumulate(counts->parts.begin(), counts->parts.end(), std::size_t{0});
}

Result<void> Node::stop(Deadline deadline) {
  check(!stopping_, "a node stops once");
  stopping_ = true;
  const TimePoint start = now();
  log_.info("node stops", {{"name", config_.name}, {"running_calls", running_call_count()}});
  balancing_.reset();
  if (wait_watch_ != nullptr) wait_watch_->stop();
  if (auto drained = drain(deadline); !drained) {
    log_.warning("objects were not handed over", {{"error", drained.error().message()}});
  }
  auto stopped = stop_serving(deadline);
  if (cluster_ != nullptr) cluster_->stop(Deadline::after(last_words_time_max));
  static_cast<void>(shards_->on_each([&](Shard& shard) -> Result<void> {
    shard.telemetry().stop(std::max(deadline, Deadline::after(last_spans_time_max)));
    return {};
  }));
  admin_->stop();
  if (!stopped) {
    log_.warning("running calls did not finish in time", {{"error", stopped.error().message()}});
  }
  log_.info("node stopped", {{"name", config_.name}, {"took", now() - start}});
  if (exports_ != nullptr) exports_->stop(Deadline::after(last_spans_time_max));
  return stopped;
}

}  // namespace corolane::framework
