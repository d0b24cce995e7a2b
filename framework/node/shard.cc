// SPDX-License-Identifier: MIT
#include "framework/node/shard.h"

#include <string_view>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "framework/cluster/ownership.h"
#include "framework/edge/detail/session_exchange.h"
#include "framework/node/detail/client_door.h"
#include "framework/node/detail/client_login.h"
#include "framework/node/detail/door_network.h"
#include "framework/node/detail/inspection_service.h"
#include "framework/node/detail/node_pages.h"
#include "framework/node/detail/node_peers.h"
#include "framework/node/detail/secret_file.h"
#include "framework/node/node_config.h"
#include "framework/node/shard_metrics.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/node_clients.h"
#include "framework/routing/detail/object_router.h"
#include "framework/routing/detail/push_service.h"
#include "framework/store/detail/store_gate.h"
#include "framework/telemetry/telemetry.h"
#include "net/http/http_files.h"
#include "net/http/http_server.h"
#include "rpc/client/client.h"
#include "rpc/http/http_face.h"
#include "rpc/reflection/reflection.h"
#include "rpc/server/server.h"

namespace corolane::framework {
namespace {

// How many clients a node that drains sends to other nodes.
constexpr std::size_t dismissals_per_second = 5'000;

rpc::StackSizes stack_sizes(const StacksConfig& config) {
  rpc::StackSizes sizes;
  for (const MethodStackConfig& method : config.methods) {
    sizes.set(method.method, method.size.count);
  }
  return sizes;
}

// The number of connections stays at its default: client connections have a limit that all shards
// share, and other nodes make one per shard, far fewer than the default.
rpc::Server::Options rpc_options(const NodeConfig& node, rpc::SessionRegistry* registry) {
  const ClientsConfig& config = node.clients;
  return {.address_share_percent = config.address_share,
          .calls_per_connection_max = config.calls_per_connection_max,
          .connections_per_principal_max = config.connections_per_principal_max,
          .calls_per_principal_max = config.calls_per_principal_max,
          .client_bytes_max = config.memory_max.count / node.shard_count(),
          .sessions = {.patience =
                           std::chrono::ceil<std::chrono::milliseconds>(config.session_patience),
                       .count_max = rpc::SessionOptions{}.count_max / node.shard_count(),
                       .bytes_max = rpc::SessionOptions{}.bytes_max / node.shard_count()},
          .session_registry = registry,
          .stack_sizes = stack_sizes(node.stacks)};
}

// Services that only nodes call, whatever the configuration opens.
bool is_internal(const rpc::Service& service) {
  return std::string_view(service.service_name()).starts_with("corolane.framework.");
}

net::TlsOptions tls_options(const TlsConfig& config) {
  return {.certificate_file = config.certificate_file,
          .key_file = config.key_file,
          .ca_file = config.ca_file,
          .needs_peer_certificate = config.needs_client_certificate};
}

net::WebSocketNetwork::Options websocket_options(const ClientsConfig& config) {
  // A message may hold the end of one frame and the beginning of the next.
  return {.origins = config.origins,
          .deflates = config.websocket_deflate,
          .deflated_message_bytes_max = 2 * config.request_size_max.count};
}

detail::ObjectHost::Options host_options(const ObjectsConfig& config, std::size_t shard_count) {
  return {.mailbox_max = config.mailbox_max,
          .idle_time_max = config.idle_time_max,
          .memory_bytes_max = config.memory_max.count / shard_count};
}

}  // namespace

Shard::Shard(std::size_t index, const Surroundings& surroundings, net::Network& network)
    : index_(index),
      surroundings_(surroundings),
      network_(network),
      scheduler_(coroutine::Scheduler::current()),
      telemetry_(
          std::make_unique<Telemetry>(Telemetry::Options{.resource = surroundings.resource,
                                                         .otlp = surroundings.config.otlp,
                                                         .tracing = surroundings.config.tracing,
                                                         .call_log = surroundings.config.call_log},
                                      network, surroundings.log)),
      client_door_(std::make_unique<detail::ClientDoor>(network, surroundings.client_connections,
                                                        surroundings.log)),
      cluster_network_(std::make_unique<detail::DoorNetwork>(network, "node.cluster.tls")),
      client_login_(std::make_unique<detail::ClientLogin>(
          surroundings.config.clients.login, surroundings.login, surroundings.wall_clock)),
      router_(std::make_unique<detail::ObjectRouter>(network, index)),
      sessions_(
          std::make_unique<detail::SessionExchange>(*router_, surroundings.config.name, index)),
      rpc_server_(std::make_unique<rpc::Server>(
          network, rpc_options(surroundings.config, sessions_.get()))) {
  sessions_->set_server(*rpc_server_);
  router_->set_stack_sizes(stack_sizes(surroundings.config.stacks));
  router_->set_slow_calls(telemetry_->slow_calls());
  router_->push().feeds().set_tracer(tracer());
  add_shard_metrics(metrics_, *this);
  telemetry_->watch(*rpc_server_);
  serve(std::make_unique<rpc::ReflectionService>(*rpc_server_));
}

Shard::~Shard() {
  http_server_.reset();
  static_cast<void>(rpc_server_->stop(Deadline::passed()));
  router_->stop();
}

Router& Shard::router() { return *router_; }

rpc::Tracer& Shard::tracer() { return telemetry_->tracer(); }

const detail::PushHub& Shard::push() const { return router_->push(); }

std::size_t Shard::active_object_count() const {
  return host_ == nullptr ? 0 : host_->statistics().active_count;
}

Store* Shard::store() const { return store_.get(); }

rpc::Login Shard::client_login() const {
  return [this](std::string_view token, const rpc::LoginPeer& peer) {
    return client_login_->principal_of(token, peer);
  };
}

rpc::Security Shard::cluster_security() const {
  return detail::cluster_security(*cluster_network_, surroundings_.config.cluster,
                                  surroundings_.shared_key);
}

Result<std::string> Shard::collector_headers() const {
  return detail::read_secret(surroundings_.config.otlp.headers_file, "node.otlp.headers_file");
}

Result<void> Shard::open_doors() {
  auto headers = collector_headers();
  if (!headers) return headers.error();
  if (auto opened = telemetry_->open(*headers); !opened) return opened;
  const ClientsConfig& clients = surroundings_.config.clients;
  if (auto opened = client_login_->open(); !opened) return opened;
  if (auto opened = client_door_->open(tls_options(clients.tls), websocket_options(clients));
      !opened)
    return opened;
  return detail::open_cluster_door(*cluster_network_, surroundings_.config.cluster);
}

Result<void> Shard::open(std::shared_ptr<Store> store) {
  if (auto opened = open_doors(); !opened) return opened;
  router_->set_security(cluster_security(), cluster_network_->network());
  using Audience = rpc::Server::Audience;
  const ClientsConfig& clients = surroundings_.config.clients;
  const Audience audience = clients.public_methods_only ? Audience::as_marked : Audience::everybody;
  for (const auto& service : services_) {
    const bool is_hidden =
        is_internal(*service) || (service == services_.front() && !clients.reflection);
    auto added = rpc_server_->add(*service, is_hidden ? Audience::nodes : audience);
    if (!added) return added;
  }
  inspection_service_ = std::make_unique<detail::InspectionService>(*this, surroundings_.pages);
  if (auto added = rpc_server_->add(*inspection_service_, Audience::nodes); !added) return added;
  if (auto added = rpc_server_->add(*sessions_, Audience::nodes); !added) return added;
  if (store == nullptr) return {};
  store_ = std::make_unique<detail::StoreGate>(std::move(store), surroundings_.store_health, log(),
                                               &tracer());
  host_ = std::make_unique<detail::ObjectHost>(
      detail::ObjectCell::Surroundings{.store = *store_,
                                       .owners = *router_,
                                       .clock = surroundings_.wall_clock,
                                       .witness = surroundings_.witness,
                                       .tracer = &tracer()},
      log(), host_options(surroundings_.config.objects, surroundings_.config.shard_count()));
  for (const HostedObjects& objects : surroundings_.objects) {
    detail::HostedType& type = host_->add(
        objects.type, *objects.ownership, [this, &objects] { return objects.make(*this); },
        objects.object_bytes, objects.options);
    const Audience own_audience = is_internal(type) ? Audience::nodes : audience;
    if (auto added = rpc_server_->add(type, own_audience); !added) return added;
  }
  push_service_ = std::make_unique<detail::PushService>(*host_, *router_);
  if (auto added = rpc_server_->add(*push_service_, Audience::nodes); !added) return added;
  router_->set_host(*host_);
  return host_->start();
}

std::vector<std::string> Shard::services_without_public_methods() const {
  std::vector<std::string> names;
  for (const rpc::Service* const service : rpc_server_->services()) {
    if (service == services_.front().get() || is_internal(*service)) continue;
    if (service->methods().empty()) continue;
    if (!rpc_server_->methods(*service, rpc::Door::clients).empty()) return {};
    names.emplace_back(service->service_name());
  }
  return names;
}

Result<void> Shard::prepare_change() {
  auto headers = collector_headers();
  if (!headers) return headers.error();
  if (auto prepared = telemetry_->prepare_change(*headers); !prepared) return prepared;
  if (auto prepared = client_door_->prepare_change(); !prepared) return prepared;
  if (auto prepared = cluster_network_->prepare_change(); !prepared) return prepared;
  return client_login_->prepare_change();
}

void Shard::change(const NodeConfig& config) {
  client_door_->change();
  cluster_network_->change();
  client_login_->change();
  rpc_server_->set_limits(rpc_options(config, sessions_.get()));
  telemetry_->apply(config.tracing, config.call_log);
  if (host_ == nullptr) return;
  const auto objects = host_options(config.objects, config.shard_count());
  host_->set_limits(objects.mailbox_max, objects.idle_time_max, objects.memory_bytes_max);
}

Result<net::Endpoint> Shard::listen_for_clients(const net::Endpoint& endpoint, bool shares_port) {
  const ClientsConfig& clients = surroundings_.config.clients;
  rpc::Server::ListenOptions options{.request_bytes_max = clients.request_size_max.count,
                                     .door = rpc::Door::clients,
                                     .login = client_login(),
                                     .connections = &surroundings_.client_connections,
                                     .network = &client_door_->frames(),
                                     .shares_port = shares_port};
  auto frames = rpc_server_->listen(endpoint, options);
  if (!frames || !clients.websocket) return frames;
  options.network = &client_door_->websockets();
  return rpc_server_->listen(*frames, options);
}

Result<net::Endpoint> Shard::listen_for_http(const net::Endpoint& endpoint, bool shares_port) {
  const ClientsConfig& clients = surroundings_.config.clients;
  http_face_ = std::make_unique<rpc::HttpFace>(
      *rpc_server_, rpc::HttpFace::Options{.door = rpc::Door::clients,
                                           .login = client_login(),
                                           .origins = clients.origins,
                                           .lists_services = clients.reflection,
                                           .files = surroundings_.files.get(),
                                           .request_bytes_max = clients.request_size_max.count});
  http_server_ = std::make_unique<net::HttpServer>(
      client_door_->http(), *http_face_,
      net::HttpServer::Options{.limits = {.body_bytes_max = clients.request_size_max.count},
                               .connections = &surroundings_.client_connections,
                               .budget = &rpc_server_->client_bytes()});
  return http_server_->listen(endpoint, shares_port);
}

Result<net::Endpoint> Shard::listen_for_nodes(const net::Endpoint& endpoint,
                                              net::ConnectionBound& connections) {
  return rpc_server_->listen(endpoint, {.request_bytes_max = rpc::Client::Options{}.reply_bytes_max,
                                        .security = cluster_security(),
                                        .calls_per_connection_max = detail::NodeClients::calls_max,
                                        .door = rpc::Door::nodes,
                                        .connections = &connections,
                                        .network = &cluster_network_->network()});
}

void Shard::dismiss_clients(Deadline deadline) {
  const std::size_t per_second = dismissals_per_second / surroundings_.config.shard_count();
  if (sessions_->has_other_nodes()) rpc_server_->dismiss_clients(per_second, deadline);
}

Result<void> Shard::stop_serving(Deadline deadline) {
  sessions_->close();
  // Calls that stream publications to clients would never end by themselves.
  router_->end_subscriptions();
  coroutine::Task<void> http;
  if (http_server_ != nullptr) {
    http = coroutine::spawn("stop http", [&] { return http_server_->stop(deadline); },
                            {.purpose = coroutine::StackPool::Purpose::control});
  }
  auto stopped = rpc_server_->stop(deadline);
  if (http_server_ != nullptr) {
    auto http_stopped = http.join(Deadline::never());
    if (stopped) stopped = std::move(http_stopped);
  }
  return stopped;
}

void Shard::stop_calls() {
  sessions_->stop();
  router_->stop();
}

Result<void> Shard::stop_objects(Deadline deadline) {
  return host_ == nullptr ? Result<void>() : host_->stop(deadline);
}

}  // namespace corolane::framework
