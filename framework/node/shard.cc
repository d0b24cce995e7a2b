// SPDX-License-Identifier: MIT
#include "framework/node/shard.h"

#include <utility>

#include "coroutine/scheduler.h"
#include "framework/cluster/ownership.h"
#include "framework/node/detail/inspection_service.h"
#include "framework/node/node_config.h"
#include "framework/node/shard_metrics.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/object_router.h"
#include "framework/routing/detail/push_service.h"
#include "framework/store/detail/store_gate.h"
#include "framework/telemetry/telemetry.h"
#include "net/tls/tls.h"
#include "rpc/reflection/reflection.h"
#include "rpc/server/server.h"

namespace corolane::framework {
namespace {

// The number of connections stays at its default: client connections have a limit that all shards
// share, and other nodes make one per shard, far fewer than the default.
rpc::Server::Options rpc_options(const RpcConfig& config) {
  return {.address_share_percent = config.address_share,
          .calls_per_connection_max = config.calls_per_connection_max};
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
          std::make_unique<Telemetry>(Telemetry::Options{.node_name = surroundings.config.name,
                                                         .tracing = surroundings.config.tracing,
                                                         .call_log = surroundings.config.call_log},
                                      network, surroundings.log)),
      router_(std::make_unique<detail::ObjectRouter>(network, index)),
      rpc_server_(std::make_unique<rpc::Server>(network, rpc_options(surroundings.config.rpc))) {
  router_->set_slow_calls(telemetry_->slow_calls());
  add_shard_metrics(metrics_, *this);
  telemetry_->watch(*rpc_server_);
  serve(std::make_unique<rpc::ReflectionService>(*rpc_server_));
}

Shard::~Shard() {
  static_cast<void>(rpc_server_->stop(Deadline::passed()));
  router_->stop();
}

Router& Shard::router() { return *router_; }

rpc::Tracer& Shard::tracer() { return telemetry_->tracer(); }

const detail::Feeds& Shard::feeds() const { return router_->feeds(); }

std::size_t Shard::active_object_count() const {
  return host_ == nullptr ? 0 : host_->statistics().active_count;
}

Store* Shard::store() const { return store_.get(); }

net::Network& Shard::clients_network() {
  return tls_network_ == nullptr ? network_ : *tls_network_;
}

Result<void> Shard::open(std::shared_ptr<Store> store) {
  router_->set_security(
      {.cluster = surroundings_.config.cluster.name, .shared_key = surroundings_.shared_key});
  using Audience = rpc::Server::Audience;
  const bool is_as_marked = surroundings_.config.public_methods_only;
  const Audience audience = is_as_marked ? Audience::as_marked : Audience::everybody;
  for (const auto& service : services_) {
    if (auto added = rpc_server_->add(*service, audience); !added) return added;
  }
  if (store == nullptr) return {};
  store_ = std::make_unique<detail::StoreGate>(std::move(store), surroundings_.store_health, log());
  host_ = std::make_unique<detail::ObjectHost>(
      detail::ObjectCell::Surroundings{.store = *store_,
                                       .owners = *router_,
                                       .clock = surroundings_.wall_clock,
                                       .witness = surroundings_.witness},
      log(), host_options(surroundings_.config.objects, surroundings_.config.shard_count()));
  for (const HostedObjects& objects : surroundings_.objects) {
    detail::HostedType& type = host_->add(
        objects.type, *objects.ownership, [this, &objects] { return objects.make(*this); },
        objects.object_bytes);
    if (auto added = rpc_server_->add(type, audience); !added) return added;
  }
  push_service_ = std::make_unique<detail::PushService>(*host_);
  if (auto added = rpc_server_->add(*push_service_, Audience::nodes); !added) return added;
  inspection_service_ = std::make_unique<detail::InspectionService>(*this);
  if (auto added = rpc_server_->add(*inspection_service_, Audience::nodes); !added) return added;
  router_->set_host(*host_);
  return host_->start();
}

std::vector<std::string> Shard::services_without_public_methods() const {
  std::vector<std::string> names;
  for (const rpc::Service* const service : rpc_server_->services()) {
    const bool is_own = service == services_.front().get() || service == push_service_.get() ||
                        service == inspection_service_.get();
    if (is_own || service->methods().empty()) continue;
    if (!rpc_server_->methods(*service, rpc::Door::clients).empty()) return {};
    names.emplace_back(service->service_name());
  }
  return names;
}

Result<void> Shard::load_certificates() {
  const TlsConfig& tls = surroundings_.config.tls;
  if (tls.certificate_file.empty() || tls_context_ != nullptr) return {};
  auto context = net::TlsContext::load({.certificate_file = tls.certificate_file,
                                        .key_file = tls.key_file,
                                        .ca_file = tls.ca_file,
                                        .needs_peer_certificate = tls.needs_client_certificate});
  if (!context) return std::move(context.error()).with_context("node.tls");
  tls_context_ = *std::move(context);
  tls_network_ = std::make_unique<net::TlsNetwork>(network_, *tls_context_);
  return {};
}

Result<void> Shard::prepare_change() {
  change_certificates_ = nullptr;
  if (tls_context_ == nullptr) return {};
  auto prepared = tls_context_->prepare_reload();
  if (!prepared) return std::move(prepared.error()).with_context("node.tls");
  change_certificates_ = *std::move(prepared);
  return {};
}

void Shard::change(const NodeConfig& config) {
  if (change_certificates_) std::exchange(change_certificates_, nullptr)();
  rpc_server_->set_limits(rpc_options(config.rpc));
  telemetry_->apply(config.tracing, config.call_log);
  if (host_ == nullptr) return;
  const auto objects = host_options(config.objects, config.shard_count());
  host_->set_limits(objects.mailbox_max, objects.idle_time_max, objects.memory_bytes_max);
}

Result<net::Endpoint> Shard::listen(const net::Endpoint& endpoint, bool shares_port) {
  if (auto loaded = load_certificates(); !loaded) return loaded.error();
  return rpc_server_->listen(endpoint,
                             {.request_bytes_max = surroundings_.config.rpc.request_size_max.count,
                              .door = rpc::Door::clients,
                              .login = surroundings_.login,
                              .connections = &surroundings_.client_connections,
                              .network = &clients_network(),
                              .shares_port = shares_port});
}

Result<void> Shard::stop_serving(Deadline deadline) {
  // Calls that stream publications to clients would never end by themselves.
  router_->end_subscriptions();
  return rpc_server_->stop(deadline);
}

void Shard::stop_calls() { router_->stop(); }

Result<void> Shard::stop_objects(Deadline deadline) {
  return host_ == nullptr ? Result<void>() : host_->stop(deadline);
}

}  // namespace corolane::framework
