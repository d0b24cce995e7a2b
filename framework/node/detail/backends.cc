// SPDX-License-Identifier: MIT
#include "framework/node/detail/backends.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/directory/etcd_directory.h"
#include "framework/directory/local_directory.h"
#include "framework/node/detail/door_network.h"
#include "framework/node/detail/secret_file.h"
#include "framework/store/memory_store.h"
#include "framework/store/redis_store.h"
#include "framework/store/sqlite_store.h"

namespace corolane::framework::detail {

namespace {

// A backend of type T with its network, which is inside TLS when a CA is configured.
template <typename T>
struct Secured {
  Secured(net::Network& inner, const char* key) : network(inner, key) {}

  DoorNetwork network;
  std::optional<T> backend = std::nullopt;
};

net::TlsOptions tls_options(const PeerTlsConfig& config) {
  return {.certificate_file = config.certificate_file,
          .key_file = config.key_file,
          .ca_file = config.ca_file};
}

Result<std::vector<net::HostPort>> parse_servers(const std::vector<std::string>& servers,
                                                 const char* key) {
  std::vector<net::HostPort> hosts;
  for (const std::string& server : servers) {
    auto host = net::parse_host_port(server);
    if (!host) return std::move(host.error()).with_context(key);
    hosts.push_back(*std::move(host));
  }
  if (hosts.empty()) {
    return Error(Code::invalid_argument, std::string(key) + ": no server is configured");
  }
  return hosts;
}

Result<std::shared_ptr<Store>> open_redis(const RedisConfig& config, const std::string& cluster,
                                          net::Network& network) {
  auto redis = std::make_shared<Secured<RedisStore>>(network, "node.store.redis.tls");
  if (auto opened = redis->network.open(tls_options(config.tls)); !opened) return opened.error();
  auto endpoints = parse_servers(config.servers, "node.store.redis.servers");
  if (!endpoints) return endpoints.error();
  auto password = read_secret(config.password_file, "node.store.redis.password_file");
  if (!password) return password.error();
  Store* const store = &redis->backend.emplace(
      redis->network.network(), RedisStore::Options{.endpoints = *std::move(endpoints),
                                                    .is_cluster = config.cluster,
                                                    .user = config.user,
                                                    .password = *std::move(password),
                                                    .database = config.database,
                                                    .key_prefix = cluster + ":"});
  return std::shared_ptr<Store>(std::move(redis), store);
}

Result<std::shared_ptr<Directory>> open_etcd(const ClusterConfig& config, net::Network& network) {
  auto etcd = std::make_shared<Secured<EtcdDirectory>>(network, "node.cluster.etcd.tls");
  if (auto opened = etcd->network.open(tls_options(config.etcd.tls)); !opened) {
    return opened.error();
  }
  auto password = read_secret(config.etcd.password_file, "node.cluster.etcd.password_file");
  if (!password) return password.error();
  EtcdDirectory::Options options{.key_prefix = "/" + config.name + "/",
                                 .user = config.etcd.user,
                                 .password = *std::move(password)};
  auto endpoints = parse_servers(config.etcd.servers, "node.cluster.etcd.servers");
  if (!endpoints) return endpoints.error();
  options.endpoints = *std::move(endpoints);
  Directory* const directory = &etcd->backend.emplace(etcd->network.network(), std::move(options));
  return std::shared_ptr<Directory>(std::move(etcd), directory);
}

}  // namespace

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
  return open_redis(config.redis, cluster, network);
}

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
