// SPDX-License-Identifier: MIT
#include "framework/node/node.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "config/keys.h"
#include "coroutine/base/check.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/task.h"
#include "framework/admin/admin.h"
#include "framework/cluster/detail/fence_watchdog.h"
#include "framework/diagnostics/detail/stall_watchdog.h"
#include "framework/node/detail/backends.h"
#include "framework/node/detail/node_tenants.h"
#include "framework/node/detail/shard_set.h"
#include "framework/node/detail/side_thread.h"
#include "framework/node/node_metrics.h"
#include "framework/node/node_parts.h"
#include "framework/routing/detail/node_clients.h"
#include "framework/routing/detail/object_router.h"
#include "framework/store/detail/store_gate.h"
#include "framework/store/store.h"
#include "framework/telemetry/detail/log_loan.h"
#include "framework/telemetry/telemetry.h"
#include "framework/telemetry/version.h"
#include "framework/wire/objects.pb.h"
#include "net/http/http_server.h"
#include "rpc/http/http_face.h"
#include "rpc/server/server.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;

// The time for sending the last spans, when the calls took all of the time.
constexpr Duration last_spans_time_max = 250ms;
// The time for the directory and the store to answer at the start.
constexpr Duration start_time_max = 10s;
// The time for storing the last changes, when the calls took all of the time.
constexpr Duration last_writes_time_max = 500ms;
// The time for telling the directory that the node leaves.
constexpr Duration last_words_time_max = 1s;

// The revisions reserved for one process of a node that is alone.
constexpr Directory::Revision revisions_of_a_process = Directory::Revision{1} << 24;

// One for each pair of shards, and as many again for connections that are being replaced: 90 nodes
// of 16 shards. Strangers count as well until they are asked for the key.
constexpr std::size_t node_connections_max = 65'536;

net::AddressShares::Limits connection_limits(const RpcConfig& config) {
  return {.count_max = config.connections_max, .share_percent = config.address_share};
}

// Long enough to be unguessable: openssl rand -hex 16 makes 32.
constexpr std::size_t admin_token_bytes_min = 16;

// Returns an empty text when the file cannot be read. The final line break of an editor is dropped.
std::string read_secret(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string secret(std::istreambuf_iterator<char>(file), {});
  while (secret.ends_with('\n')) secret.pop_back();
  return secret;
}

// Says how to fix a listener that failed.
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

Node::Node(const NodeConfig& config, net::Network& network)
    : Node(config, network, Log(config.log_level)) {}

Node::Node(NodeConfig config, net::Network& network, Log log)
    : Node(std::move(config), network, std::move(log), Parts{}) {}

Node::Node(NodeConfig config, net::Network& network, Log log, Parts parts)
    : config_(std::move(config)),
      network_(network),
      parts_(std::make_unique<const Parts>(std::move(parts))),
      created_at_(now()),
      log_(std::move(log)),
      log_loan_(std::make_unique<detail::LogLoan>(log_)),
      fence_(parts_->clock),
      store_health_(std::make_unique<detail::StoreHealth>()),
      node_connections_({.count_max = node_connections_max}),
      client_connections_(connection_limits(config_.rpc)),
      http_connections_(connection_limits(config_.rpc)),
      shard_(std::make_unique<Shard>(0, surroundings(), network)),
      shards_(std::make_unique<detail::ShardSet>(*shard_)),
      symbols_(std::make_unique<coroutine::Symbols>()),
      http_face_(std::make_unique<rpc::HttpFace>(
          shard_->rpc_server(), rpc::HttpFace::Options{.door = rpc::Door::clients})),
      admin_(std::make_unique<AdminServer>(network)) {
  add_node_metrics(metrics(), *this);
}

Shard::Surroundings Node::surroundings() {
  return {.config = config_,
          .log = log_,
          .objects = objects_,
          .shared_key = shared_key_,
          .store_health = *store_health_,
          .client_connections = client_connections_,
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
  shard_->serve(std::move(service));
}

void Node::observe() {
  side_thread_ = std::make_unique<detail::SideThread>(scheduler());
  if (config_.stall_time_min == Duration::zero()) return;
  std::vector<coroutine::Scheduler*> schedulers(shard_count());
  static_cast<void>(shards_->on_each([&](Shard& shard) -> Result<void> {
    schedulers[shard.index()] = &shard.scheduler();
    return {};
  }));
  // A shard without a stack for this task is not watched.
  std::erase(schedulers, nullptr);
  stall_watchdog_ = std::make_unique<detail::StallWatchdog>(
      std::move(schedulers),
      detail::StallWatchdog::Options{.stall_time_min = config_.stall_time_min}, log_);
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
  const NodeConfig next = config::with_live(config_, config);
  auto prepared = shards_->on_each([](Shard& shard) { return shard.prepare_change(); });
  if (!prepared) return prepared;
  shards_->between_turns([&](Shard& shard) {
    shard.change(next);
    if (together) together(shard);
  });
  if (next.log_level != config_.log_level) log_loan_->configure(next.log_level);
  client_connections_.set_limits(connection_limits(next.rpc));
  http_connections_.set_limits(connection_limits(next.rpc));
  config_ = next;
  return {};
}

Result<void> Node::on_each_shard(const std::function<Result<void>(Shard& shard)>& work) {
  return shards_->on_each(work);
}

std::size_t Node::shard_count() const { return shards_->count(); }

Result<void> Node::start() {
  check(!started_, "a node starts once");
  started_ = true;
  auto endpoints = validate(config_);
  if (!endpoints) return endpoints.error();
  if (has_single_services_ && config_.shard_count() > 1) {
    return Error(Code::failed_precondition,
                 "node.shards: the services of this node are made for one shard; set it to 1, or "
                 "give serve() a function that makes one for each");
  }
  Result<void> ready = open_stores();
  if (ready) ready = open_shards();
  if (ready) ready = check_reach_of_clients();
  if (ready) ready = join_cluster();
  if (ready) ready = listen_for_clients(*endpoints);
  if (!ready) {
    close_all(Deadline::after(last_words_time_max));
    return ready;
  }
  warn_of_open_methods();
  log_.info("node serves", {{"name", config_.name},
                            {"version", version()},
                            {"listen", to_string(endpoints_.listen)},
                            {"tls", !config_.tls.certificate_file.empty()},
                            {"admin", to_string(endpoints_.admin)},
                            {"http", endpoints_.http ? to_string(*endpoints_.http) : "off"},
                            {"shards", shards_->count()}});
  return {};
}

Result<void> Node::open_stores() {
  for (HostedObjects& objects : objects_) {
    auto& ownership = ownerships_[objects.placement];
    if (ownership == nullptr) ownership = std::make_unique<Ownership>(fence_);
    objects.ownership = ownership.get();
  }
  if (auto read = read_shared_key(); !read) return read;
  if (objects_.empty()) return {};
  shared_store_ = parts_->store;
  if (shared_store_ != nullptr || !detail::is_one_for_all(config_.store.kind)) return {};
  auto store = detail::open_store(config_.store, config_.cluster.name, network_);
  if (!store) return store.error();
  shared_store_ = *std::move(store);
  return {};
}

Result<void> Node::read_shared_key() {
  const std::string& path = config_.cluster.shared_key_file;
  if (path.empty()) return {};
  shared_key_ = read_secret(path);
  if (shared_key_.size() >= rpc::Security::shared_key_bytes_min) return {};
  return Error(Code::invalid_argument,
               "node.cluster.shared_key_file: " + path + " cannot be read, or has fewer than " +
                   std::to_string(rpc::Security::shared_key_bytes_min) + " bytes");
}

Result<std::string> Node::read_admin_token() const {
  const std::string& path = config_.admin_token_file;
  if (path.empty()) return std::string();
  auto token = read_secret(path);
  if (token.size() >= admin_token_bytes_min) return token;
  return Error(Code::invalid_argument, "node.admin_token_file: " + path +
                                           " cannot be read, or has fewer than " +
                                           std::to_string(admin_token_bytes_min) + " bytes");
}

Result<void> Node::open_shards() {
  const std::size_t count = config_.shard_count();
  // Builds protobuf's lazy reflection data before there are other threads.
  static_cast<void>(ObjectRecord::default_instance().GetReflection());
  if (auto grown = shards_->grow(count, surroundings(),
                                 {.stacks = {.stack_count_max = config_.stacks.count_max / count}});
      !grown) {
    return grown;
  }
  shards_->introduce();
  endpoints_.cluster.resize(is_alone() ? 0 : count);
  return shards_->on_each([this](Shard& shard) -> Result<void> {
    for (auto& make : make_services_) make(shard);
    std::shared_ptr<Store> store = shared_store_;
    if (store == nullptr && !objects_.empty()) {
      auto own = detail::open_store(config_.store, config_.cluster.name, shard.network());
      if (!own) return own.error();
      store = *std::move(own);
    }
    if (auto opened = shard.open(std::move(store)); !opened) return opened;
    if (is_alone()) return {};
    return listen_for_nodes(shard, endpoints_.cluster[shard.index()]);
  });
}

Result<void> Node::check_reach_of_clients() {
  const std::vector<std::string> hidden = shard_->services_without_public_methods();
  if (hidden.empty()) return {};
  std::string names;
  for (const std::string& name : hidden) names.append(names.empty() ? "" : ", ").append(name);
  return Error(
      Code::failed_precondition,
      "node.listen: clients could not call anything, since these services have no public method: " +
          names +
          "; mark the methods for clients in the .proto with `option (corolane.method).public = "
          "true`, or set node.public_methods_only: false while you develop on a loopback "
          "address");
}

// Each shard has a port of its own, so that a call arrives where its object lives.
Result<void> Node::listen_for_nodes(Shard& shard, net::Endpoint& bound) {
  auto endpoint = net::parse_endpoint(config_.cluster.listen);
  if (!endpoint) return endpoint.error();
  if (endpoint->port != 0) {
    endpoint->port = static_cast<std::uint16_t>(endpoint->port + shard.index());
  }
  auto listening = shard.rpc_server().listen(
      *endpoint, {.request_bytes_max = rpc::Client::Options{}.reply_bytes_max,
                  .security = {.cluster = config_.cluster.name, .shared_key = shared_key_},
                  .calls_per_connection_max = detail::NodeClients::calls_max,
                  .door = rpc::Door::nodes,
                  .connections = &node_connections_});
  if (!listening) return listen_error("node.cluster.listen", *endpoint, listening.error());
  bound = *std::move(listening);
  return {};
}

Member Node::member() const {
  Member member{.name = config_.name,
                .incarnation = "",
                .shards = {},
                .weight = config_.cluster.weight,
                .zone = config_.cluster.zone,
                .roles = config_.cluster.roles,
                .version = std::string(version())};
  for (const net::Endpoint& endpoint : endpoints_.cluster) {
    const std::string& host =
        config_.cluster.advertise.empty() ? endpoint.address : config_.cluster.advertise;
    member.shards.push_back({.host = host, .port = endpoint.port});
  }
  // A node that is alone is never called, so its address does not matter.
  if (member.shards.empty()) member.shards.push_back({.host = "127.0.0.1", .port = 0});
  std::map<Placement, std::set<std::string>> types;
  for (const HostedObjects& objects : objects_) {
    types[objects.placement].insert(objects.type.name);
  }
  for (const auto& [placement, names] : types) {
    member.groups.push_back({.placement = placement, .types = {names.begin(), names.end()}});
  }
  return member;
}

Result<void> Node::join_cluster() {
  if (is_alone() && objects_.empty()) return {};
  const Deadline deadline = Deadline::after(start_time_max);
  directory_ = parts_->directory;
  if (directory_ == nullptr) {
    Directory::Revision first_revision = 0;
    if (is_alone()) {
      // Must exceed the epochs by which earlier processes have sealed objects.
      Store& store = shared_store_ != nullptr ? *shared_store_ : *shard_->store();
      auto epoch = store.next_epoch(deadline);
      // On a full disk the node starts all the same, so that objects can be read.
      if (!epoch && epoch.error().code() == Code::resource_exhausted) {
        epoch = shard_->store()->next_epoch(deadline);
      }
      if (!epoch) return std::move(epoch.error()).with_context("node.store");
      first_revision = *epoch * revisions_of_a_process;
    }
    auto directory = detail::open_directory(config_.cluster, network_, first_revision);
    if (!directory) return directory.error();
    directory_ = *std::move(directory);
  }
  std::vector<detail::PartitionKeeper::Group> groups;
  groups.reserve(ownerships_.size());
  for (const auto& [placement, ownership] : ownerships_) {
    groups.push_back({.placement = placement, .ownership = ownership.get()});
  }
  tenants_ = std::make_unique<detail::NodeTenants>(*shards_, ownerships_);
  cluster_ = std::make_unique<Cluster>(*directory_, fence_, member(), std::move(groups), *tenants_,
                                       log_, parts_->cluster);
  shards_->post([this](Shard& shard) {
    shard.object_router().set_on_doubt([this] {
      scheduler().post([this] {
        if (cluster_ != nullptr) cluster_->look_again();
      });
    });
  });
  if (auto started = cluster_->start(deadline); !started) {
    return std::move(started.error()).with_context("node.cluster");
  }
  if (directory_->is_shared() && parts_->clock == boot_time) {
    watchdog_ = std::make_unique<detail::FenceWatchdog>(fence_, log_);
  }
  return cluster_->wait_until_settled(deadline);
}

// Clients come last, so that the node that serves them is complete.
Result<void> Node::listen_for_clients(const NodeEndpoints& endpoints) {
  auto token = read_admin_token();
  if (!token) return token.error();
  net::Network* const tls = is_local(endpoints.admin) ? nullptr : &shard_->clients_network();
  auto admin = admin_->listen(
      {.endpoint = endpoints.admin, .token = *std::move(token), .network = tls, .log = &log_});
  if (!admin) return listen_error("node.admin", endpoints.admin, admin.error());
  endpoints_.admin = *std::move(admin);
  if (auto listening = listen_on_shards(endpoints.listen); !listening) return listening;
  if (!endpoints.http) return {};
  http_server_ = std::make_unique<net::HttpServer>(
      shard_->clients_network(), http_face_->handler(),
      net::HttpServer::Options{.limits = {.body_bytes_max = config_.rpc.request_size_max.count},
                               .connections = &http_connections_,
                               .requests = &shard_->rpc_server().call_shares()});
  auto http = http_server_->listen(*endpoints.http);
  if (!http) return listen_error("node.http", *endpoints.http, http.error());
  endpoints_.http = *std::move(http);
  return {};
}

// The kernel spreads connections over the shards; on a Unix socket only the first shard accepts.
Result<void> Node::listen_on_shards(const net::Endpoint& endpoint) {
  const bool is_shared = shards_->count() > 1 && !is_unix(endpoint);
  if (is_shared) {
    // Any process may share a shared port, so check first that it is free.
    auto probe = network_.listen(endpoint);
    if (!probe) return listen_error("node.listen", endpoint, probe.error());
  }
  auto first = shard_->listen(endpoint, is_shared);
  if (!first) return listen_error("node.listen", endpoint, first.error());
  endpoints_.listen = *std::move(first);
  if (!is_shared) return {};
  return shards_->on_each([this](Shard& shard) -> Result<void> {
    if (shard.index() == 0) return {};
    auto listening = shard.listen(endpoints_.listen, /*shares_port=*/true);
    if (!listening) return listen_error("node.listen", endpoints_.listen, listening.error());
    return {};
  });
}

void Node::warn_of_open_methods() {
  const bool is_near =
      is_local(endpoints_.listen) && (!endpoints_.http || is_local(*endpoints_.http));
  if (config_.public_methods_only || is_near) return;
  log_.warning("clients on other machines may call all methods, public or not",
               {{"key", "node.public_methods_only"}});
}

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
  coroutine::Task<void> http;
  if (http_server_ != nullptr) {
    http = coroutine::spawn("stop http", [&] { return http_server_->stop(deadline); },
                            {.purpose = coroutine::StackPool::Purpose::control});
  }
  auto stopped =
      shards_->on_each([deadline](Shard& shard) { return shard.stop_serving(deadline); });
  if (http_server_ != nullptr) {
    auto http_stopped = http.join();
    if (stopped) stopped = std::move(http_stopped);
  }
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
  static_cast<void>(stop_serving(deadline));
  if (cluster_ != nullptr) cluster_->stop(Deadline::after(last_words_time_max));
  admin_->stop();
}

Result<void> Node::stop(Deadline deadline) {
  check(!stopping_, "a node stops once");
  stopping_ = true;
  const TimePoint start = now();
  log_.info("node stops",
            {{"name", config_.name}, {"running_calls", rpc_server().statistics().running_count}});
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
  return stopped;
}

}  // namespace corolane::framework
