// SPDX-License-Identifier: MIT
// The start of a node: what opens, in which order, and what is wrong when something does not.
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "coroutine/base/check.h"
#include "coroutine/base/text.h"
#include "framework/admin/admin.h"
#include "framework/cluster/detail/fence_watchdog.h"
#include "framework/edge/detail/distant_type.h"
#include "framework/edge/detail/session_exchange.h"
#include "framework/node/detail/backends.h"
#include "framework/node/detail/balancing.h"
#include "framework/node/detail/door_network.h"
#include "framework/node/detail/node_exports.h"
#include "framework/node/detail/node_peers.h"
#include "framework/node/detail/node_tenants.h"
#include "framework/node/detail/secret_file.h"
#include "framework/node/detail/shard_pulse.h"
#include "framework/node/detail/shard_set.h"
#include "framework/node/detail/wait_watch.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/object_router.h"
#include "framework/store/store.h"
#include "framework/telemetry/version.h"
#include "framework/wire/objects.pb.h"
#include "net/http/http_files.h"
#include "rpc/server/server.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;

// The time for the directory and the store to answer.
constexpr Duration start_time_max = 10s;
// The time for closing what has opened, when the start fails.
constexpr Duration close_time_max = 1s;

// The revisions reserved for one process of a node that is alone.
constexpr Directory::Revision revisions_of_a_process = Directory::Revision{1} << 24;

// Long enough to be unguessable: openssl rand -hex 16 makes 32.
constexpr std::size_t admin_token_bytes_min = 16;

// Empty: none.
bool is_affinity(std::string_view text) {
  constexpr std::size_t length_max = 63;
  return text.size() <= length_max && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-';
         });
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
  Result<void> ready = open_exports();
  if (ready) ready = open_stores();
  if (ready) ready = read_files();
  if (ready) ready = open_shards();
  if (ready) ready = check_reach_of_clients();
  if (ready) ready = join_cluster();
  if (ready) ready = listen_for_operators(endpoints->admin);
  if (ready) ready = listen_for_clients(*endpoints);
  if (!ready) {
    close_all(Deadline::after(close_time_max));
    return ready;
  }
  starting_ = false;
  warn_of_open_methods();
  warn_of_unknown_stacks();
  log_.info("node serves", {{"name", config_.name},
                            {"version", version()},
                            {"listen", to_string(endpoints_.clients)},
                            {"tls", !config_.clients.tls.certificate_file.empty()},
                            {"admin", to_string(endpoints_.admin)},
                            {"http", endpoints_.http ? to_string(*endpoints_.http) : "off"},
                            {"shards", shards_->count()}});
  return {};
}

// Other types live on the nodes that do not have that role.
Result<void> Node::leave_objects_to_others() {
  if (std::ranges::find(config_.cluster.roles, edge_role) == config_.cluster.roles.end()) return {};
  if (is_alone()) {
    return Error(Code::invalid_argument,
                 "node.cluster.roles: with the role edge a node hosts no objects, and there are no "
                 "other nodes: set node.cluster.directory to etcd");
  }
  std::erase_if(objects_, [this](const HostedObjects& objects) {
    const bool is_distant = objects.options.placement.role != edge_role;
    if (is_distant) distant_types_.push_back(objects.type);
    return is_distant;
  });
  return {};
}

Result<void> Node::check_objects() const {
  for (const HostedObjects& objects : objects_) {
    if (!is_affinity(objects.options.affinity)) {
      return Error(Code::invalid_argument, std::string(objects.type.name) + ": its affinity " +
                                               quote(objects.options.affinity) +
                                               " is not 1 to 63 letters, digits, '-'");
    }
    if (!objects.options.transient) continue;
    const auto durable = std::ranges::find_if(objects.type.methods, &rpc::Method::durable);
    if (durable == objects.type.methods.end()) continue;
    return Error(Code::failed_precondition,
                 std::string(durable->full_name) +
                     " is durable, but objects of its type are hosted as transient: drop one of "
                     "both");
  }
  return {};
}

Result<void> Node::open_exports() {
  if (exports_ == nullptr) return {};
  auto headers = detail::read_secret(config_.otlp.headers_file, "node.otlp.headers_file");
  if (!headers) return headers.error();
  auto opened = exports_->open(*headers);
  return opened ? exports_->start() : opened;
}

Result<void> Node::open_stores() {
  if (auto valid = check_objects(); !valid) return valid;
  if (auto left = leave_objects_to_others(); !left) return left;
  if (auto read = read_shared_key(); !read) return read;
  if (objects_.empty()) return {};
  std::shared_ptr<Store> store = parts_->store;
  if (store == nullptr) {
    auto opened = detail::open_store(config_.store, config_.cluster.name, network_);
    if (!opened) return opened.error();
    store = *std::move(opened);
  }
  auto count = store->partition_count(config_.cluster.partitions, Deadline::after(start_time_max));
  if (!count) return std::move(count.error()).with_context("node.store");
  partition_count_ = *count;
  for (HostedObjects& objects : objects_) {
    auto& ownership = ownerships_[objects.options.placement];
    if (ownership == nullptr) ownership = std::make_unique<Ownership>(fence_, partition_count_);
    objects.ownership = ownership.get();
  }
  if (parts_->store != nullptr || detail::is_one_for_all(config_.store.kind)) {
    shared_store_ = std::move(store);
  }
  return {};
}

Result<void> Node::read_files() {
  const std::string& folder = config_.clients.files;
  if (folder.empty()) return {};
  auto files = net::HttpFiles::read(folder);
  if (!files) {
    return Error(files.error().code(), "node.clients.files: " + files.error().message());
  }
  files_ = std::make_unique<const net::HttpFiles>(*std::move(files));
  return {};
}

Result<void> Node::read_shared_key() {
  auto key = detail::read_secret(config_.cluster.shared_key_file, "node.cluster.shared_key_file",
                                 rpc::Security::shared_key_bytes_min);
  if (!key) return key.error();
  shared_key_ = *std::move(key);
  return {};
}

Result<void> Node::open_shards() {
  const std::size_t count = config_.shard_count();
  // Builds protobuf's lazy reflection data before there are other threads.
  static_cast<void>(ObjectRecord::default_instance().GetReflection());
  if (auto grown = shards_->grow(
          count, *parts_->shard_loops, surroundings(),
          {.stacks = {.stack_count_max = config_.stacks.count_max / count},
           .on_cpu_charge = detail::ObjectHost::charge_running_object,
           .on_stray_exception = [this](const auto& stray) { log_stray_exception(log_, stray); },
           .on_deep_stack = deep_stack_logger(log_)});
      !grown) {
    return grown;
  }
  pulse_ = std::make_unique<detail::ShardPulse>(*shards_);
  if (auto started = pulse_->start(); !started) return started;
  shards_->introduce();
  endpoints_.cluster.resize(is_alone() ? 0 : count);
  return shards_->on_each([this](Shard& shard) -> Result<void> {
    for (auto& service : single_services_) shard.serve(std::move(service));
    for (auto& make : make_services_) make(shard);
    if (has_users_) shard.sessions().expect_users();
    for (const ObjectType& type : distant_types_) {
      shard.serve(std::make_unique<detail::DistantType>(type, shard.object_router()));
    }
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
  std::vector<std::string> hidden;
  auto looked = shards_->on_each([&](const Shard& shard) -> Result<void> {
    if (shard.index() == 0) hidden = shard.services_without_public_methods();
    return {};
  });
  if (!looked) return looked;
  if (hidden.empty()) return {};
  std::string names;
  for (const std::string& name : hidden) names.append(names.empty() ? "" : ", ").append(name);
  return Error(
      Code::failed_precondition,
      "node.clients.listen: clients could not call anything, since these services have no public "
      "method: " +
          names +
          "; mark the methods for clients in the .proto with `option (corolane.method).public = "
          "true`, or set node.clients.public_methods_only: false while you develop on a loopback "
          "address");
}

// Each shard has a port of its own, so that the shards of other nodes share the work among ours:
// each connects to one, which passes calls on to the others.
Result<void> Node::listen_for_nodes(Shard& shard, net::Endpoint& bound) {
  auto endpoint = net::parse_endpoint(config_.cluster.listen);
  if (!endpoint) return endpoint.error();
  if (endpoint->port != 0) {
    endpoint->port = static_cast<std::uint16_t>(endpoint->port + shard.index());
  }
  auto listening = shard.listen_for_nodes(*endpoint, node_connections_);
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
                .version = std::string(version()),
                .partition_count = partition_count_};
  for (const net::Endpoint& endpoint : endpoints_.cluster) {
    const std::string& host =
        config_.cluster.advertise.empty() ? endpoint.address : config_.cluster.advertise;
    member.shards.push_back({.host = host, .port = endpoint.port});
  }
  // A node that is alone is never called, so its address does not matter.
  if (member.shards.empty()) member.shards.push_back({.host = "127.0.0.1", .port = 0});
  std::map<Placement, PlacementGroup> groups;
  for (const HostedObjects& objects : objects_) {
    PlacementGroup& group = groups[objects.options.placement];
    group.placement = objects.options.placement;
    group.types.emplace_back(objects.type.name);
    if (objects.options.affinity.empty()) continue;
    group.affinities.emplace(objects.type.name, objects.options.affinity);
  }
  for (auto& [placement, group] : groups) {
    std::ranges::sort(group.types);
    member.groups.push_back(std::move(group));
  }
  return member;
}

// For a node that is alone: must exceed the epochs by which earlier processes have sealed objects.
Result<std::uint64_t> Node::first_revision(Deadline deadline) {
  if (!is_alone()) return 0;
  Directory::Revision first = 0;
  auto asked = shards_->on_each([&](const Shard& shard) -> Result<void> {
    if (shard.index() != 0) return {};
    auto epoch = (shared_store_ != nullptr ? *shared_store_ : *shard.store()).next_epoch(deadline);
    // On a full disk the node starts all the same, so that objects can be read.
    if (!epoch && epoch.error().code() == Code::resource_exhausted) {
      epoch = shard.store()->next_epoch(deadline);
    }
    if (!epoch) return std::move(epoch.error()).with_context("node.store");
    first = *epoch * revisions_of_a_process;
    return {};
  });
  if (!asked) return asked.error();
  return first;
}

Result<void> Node::join_cluster() {
  if (is_alone() && objects_.empty()) return {};
  const Deadline deadline = Deadline::after(start_time_max);
  directory_ = parts_->directory;
  if (directory_ == nullptr) {
    const auto revision = first_revision(deadline);
    if (!revision) return revision.error();
    auto directory = detail::open_directory(config_.cluster, network_, *revision);
    if (!directory) return directory.error();
    directory_ = *std::move(directory);
  }
  std::vector<detail::PartitionKeeper::Group> groups;
  groups.reserve(ownerships_.size());
  for (const auto& [placement, ownership] : ownerships_) {
    groups.push_back({.placement = placement, .ownership = ownership.get()});
  }
  if (auto opened = peers_->open(config_.cluster, shared_key_); !opened) return opened;
  tenants_ = std::make_unique<detail::NodeTenants>(*shards_, *peers_, ownerships_,
                                                   "/" + config_.cluster.name + "/", log_);
  Cluster::Options options = parts_->cluster;
  options.membership.serves_without_directory =
      config_.cluster.without_directory == WithoutDirectory::serve;
  if (directory_->is_shared() && !shards_->is_at_home(shards_->count() - 1)) {
    options.membership.longest_silence = [this] { return pulse_->longest_silence(); };
  }
  cluster_ = std::make_unique<Cluster>(*directory_, fence_, member(), std::move(groups), *tenants_,
                                       log_, options);
  shards_->post([this](Shard& shard) {
    shard.object_router().set_on_doubt([this](const Placement& placement, Partition partition) {
      scheduler().post([this, placement, partition] {
        if (cluster_ != nullptr) cluster_->doubt(placement, partition);
      });
    });
    shard.object_router().set_on_loss([this] {
      scheduler().post([this] {
        if (cluster_ != nullptr) cluster_->lose();
      });
    });
  });
  if (auto started = cluster_->start(deadline); !started) {
    return std::move(started.error()).with_context("node.cluster");
  }
  if (directory_->is_shared() && parts_->clock == boot_time) {
    watchdog_ = std::make_unique<detail::FenceWatchdog>(fence_, log_);
  }
  if (auto settled = cluster_->wait_until_settled(deadline); !settled) return settled;
  if (auto watched = watch_waits(); !watched) return watched;
  if (!directory_->is_shared() || !config_.cluster.balance) return {};
  balancing_ = std::make_unique<detail::Balancing>(*cluster_, *pulse_, *peers_, log_);
  return balancing_->start();
}

Result<void> Node::watch_waits() {
  wait_watch_ = std::make_unique<detail::WaitWatch>(*this);
  shards_->post([this](Shard& shard) {
    if (shard.host() == nullptr) return;
    shard.host()->long_waits().set_on_long([this] {
      scheduler().post([this] {
        if (wait_watch_ != nullptr) wait_watch_->look_soon();
      });
    });
  });
  return wait_watch_->start();
}

Result<void> Node::listen_for_operators(const net::Endpoint& endpoint) {
  const AdminConfig& config = config_.admin;
  auto token =
      detail::read_secret(config.token_file, "node.admin.token_file", admin_token_bytes_min);
  if (!token) return token.error();
  auto look_token = detail::read_secret(config.look_token_file, "node.admin.look_token_file",
                                        admin_token_bytes_min);
  if (!look_token) return look_token.error();
  auto opened =
      admin_network_->open({.certificate_file = config.tls.certificate_file,
                            .key_file = config.tls.key_file,
                            .ca_file = config.tls.ca_file,
                            .needs_peer_certificate = config.tls.needs_client_certificate});
  if (!opened) return opened;
  auto admin = admin_->listen({.endpoint = endpoint,
                               .token = *std::move(token),
                               .look_token = *std::move(look_token),
                               .network = &admin_network_->network(),
                               .log = &log_});
  if (!admin) return listen_error("node.admin.listen", endpoint, admin.error());
  endpoints_.admin = *std::move(admin);
  return {};
}

// Clients come last, so that the node that serves them is complete.
Result<void> Node::listen_for_clients(const NodeEndpoints& endpoints) {
  auto clients =
      listen_on_shards(endpoints.clients, "node.clients.listen", &Shard::listen_for_clients);
  if (!clients) return clients.error();
  endpoints_.clients = *std::move(clients);
  if (!endpoints.http) return {};
  const net::Endpoint place = config_.clients.http == "on" ? endpoints_.clients : *endpoints.http;
  auto http = listen_on_shards(place, "node.clients.http", &Shard::listen_for_http);
  if (!http) return http.error();
  endpoints_.http = *std::move(http);
  return {};
}

// The kernel spreads connections over the shards; on a Unix socket only the first shard accepts.
Result<net::Endpoint> Node::listen_on_shards(const net::Endpoint& endpoint, std::string_view key,
                                             Listen listen) {
  const bool is_shared = shards_->count() > 1 && !is_unix(endpoint);
  if (is_shared && endpoint != endpoints_.clients) {
    // Any process may share a shared port, so check first that it is free.
    auto probe = network_.listen(endpoint);
    if (!probe) return listen_error(key, endpoint, probe.error());
  }
  net::Endpoint chosen = endpoint;
  auto first = shards_->on_each([&](Shard& shard) -> Result<void> {
    if (shard.index() != 0) return {};
    auto listening = (shard.*listen)(endpoint, is_shared);
    if (!listening) return listen_error(key, endpoint, listening.error());
    chosen = *std::move(listening);
    return {};
  });
  if (!first) return first.error();
  if (!is_shared) return chosen;
  auto others = shards_->on_each([&](Shard& shard) -> Result<void> {
    if (shard.index() == 0) return {};
    auto listening = (shard.*listen)(chosen, /*shares_port=*/true);
    if (!listening) return listen_error(key, chosen, listening.error());
    return {};
  });
  if (!others) return others.error();
  return chosen;
}

void Node::warn_of_open_methods() {
  const bool is_near =
      is_local(endpoints_.clients) && (!endpoints_.http || is_local(*endpoints_.http));
  if (config_.clients.public_methods_only || is_near) return;
  log_.warning("clients on other machines may call all methods, public or not",
               {{"key", "node.clients.public_methods_only"}});
}

// One configuration may serve nodes with different services, so that is no error.
void Node::warn_of_unknown_stacks() {
  if (config_.stacks.methods.empty()) return;
  std::set<std::string, std::less<>> served;
  static_cast<void>(shards_->on_each([&](const Shard& shard) -> Result<void> {
    if (shard.index() != 0) return {};
    for (const rpc::Service* const service : shard.rpc_server().services()) {
      for (const rpc::Method& method : service->methods()) served.emplace(method.full_name);
    }
    return {};
  }));
  for (const HostedObjects& objects : objects_) {
    for (const rpc::Method& method : objects.type.methods) served.emplace(method.full_name);
  }
  for (const MethodStackConfig& wanted : config_.stacks.methods) {
    if (served.contains(wanted.method)) continue;
    log_.warning("a stack is configured for a method that this node does not serve",
                 {{"key", "node.stacks.methods"}, {"method", wanted.method}});
  }
}

}  // namespace corolane::framework
