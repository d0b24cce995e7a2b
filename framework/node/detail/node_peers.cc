// SPDX-License-Identifier: MIT
#include "framework/node/detail/node_peers.h"

namespace corolane::framework::detail {

Result<void> open_cluster_door(DoorNetwork& door, const ClusterConfig& config) {
  return door.open({.certificate_file = config.tls.certificate_file,
                    .key_file = config.tls.key_file,
                    .ca_file = config.tls.ca_file,
                    .needs_peer_certificate = true},
                   {.server_name = config.name});
}

rpc::Security cluster_security(const DoorNetwork& door, const ClusterConfig& config,
                               const std::string& shared_key) {
  return {
      .cluster = config.name, .shared_key = shared_key, .needs_peer_certificate = door.is_tls()};
}

Result<void> NodePeers::open(const ClusterConfig& config, const std::string& shared_key) {
  if (auto opened = open_cluster_door(door_, config); !opened) return opened;
  clients_.set_security(cluster_security(door_, config, shared_key), door_.network());
  return {};
}

// The clients of a router fail at once without a connection, since its calls go elsewhere then.
Result<std::shared_ptr<rpc::Client>> NodePeers::connect(const Member& member, std::size_t shard,
                                                        Deadline deadline) {
  auto client = clients_.of(member, shard);
  if (auto connected = client->wait_until_connected(deadline); !connected) return connected.error();
  return client;
}

}  // namespace corolane::framework::detail
