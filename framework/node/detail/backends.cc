// SPDX-License-Identifier: MIT
#include "framework/node/detail/backends.h"

#include <memory>
#include <optional>
#include <utility>

#include "framework/directory/etcd_directory.h"
#include "framework/directory/local_directory.h"
#include "framework/store/memory_store.h"
#include "framework/store/redis_store.h"
#include "framework/store/sqlite_store.h"
#include "net/tls/tls.h"

namespace corolane::framework::detail {

bool is_one_for_all(StoreKind kind) { return kind != StoreKind::redis; }

Result<std::shared_ptr<Store>> open_store(const StoreConfig& config, const std::string& cluster,
                                          net::Network& network) {
  switch (config.kind) {
    case StoreKind::memory:
      return std::make_shared<MemoryStore>();
    case StoreKind::sqlite: {
      auto store = SqliteStore::open(config.file);
      if (!store) return std::move(store.error()).with_context("node.store.file");
      return std::shared_ptr<Store>(*std::move(store));
    }
    case StoreKind::redis:
      break;
  }
  auto endpoint = net::parse_host_port(config.server);
  if (!endpoint) return std::move(endpoint.error()).with_context("node.store.server");
  return std::make_shared<RedisStore>(network, RedisStore::Options{.endpoint = *std::move(endpoint),
                                                                   .user = config.user,
                                                                   .password = config.password,
                                                                   .database = config.database,
                                                                   .key_prefix = cluster + ":"});
}

namespace {

// The directory with its network, over TLS when a CA is configured.
struct Etcd {
  std::unique_ptr<net::TlsContext> tls_context = nullptr;
  std::optional<net::TlsNetwork> tls_network = std::nullopt;
  std::optional<EtcdDirectory> directory = std::nullopt;
};

Result<std::shared_ptr<Directory>> open_etcd(const ClusterConfig& config, net::Network& network) {
  auto etcd = std::make_shared<Etcd>();
  net::Network* way = &network;
  if (!config.ca_file.empty()) {
    auto context = net::TlsContext::load({.ca_file = config.ca_file});
    if (!context) return std::move(context.error()).with_context("node.cluster.ca_file");
    etcd->tls_context = *std::move(context);
    way = &etcd->tls_network.emplace(network, *etcd->tls_context);
  }
  EtcdDirectory::Options options{
      .key_prefix = "/" + config.name + "/", .user = config.user, .password = config.password};
  options.endpoints.clear();
  for (const std::string& server : config.servers) {
    auto host = net::parse_host_port(server);
    if (!host) return std::move(host.error()).with_context("node.cluster.servers");
    options.endpoints.push_back(*std::move(host));
  }
  if (options.endpoints.empty()) {
    return Error(Code::invalid_argument, "node.cluster.servers: no etcd server is configured");
  }
  Directory* const directory = &etcd->directory.emplace(*way, std::move(options));
  return std::shared_ptr<Directory>(std::move(etcd), directory);
}

}  // namespace

Result<std::shared_ptr<Directory>> open_directory(const ClusterConfig& config,
                                                  net::Network& network,
                                                  Directory::Revision first_revision) {
  switch (config.directory) {
    case DirectoryKind::local:
      return std::make_shared<LocalDirectory>(first_revision);
    case DirectoryKind::etcd:
      break;
  }
  return open_etcd(config, network);
}

}  // namespace corolane::framework::detail
