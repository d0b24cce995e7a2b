// SPDX-License-Identifier: MIT
// The connections to other nodes that a node makes for itself, apart from those of its shards: for
// pages about the whole cluster, and for the balancer.
//
//   NodePeers peers(network);
//   if (auto opened = peers.open(config.cluster, shared_key); !opened) return opened;
//   auto client = peers.connect(member, shard, deadline);
//   if (!client) return client.error();
//   auto reply = InspectionClient(**client).waits(request, {.deadline = deadline});
//
// Belongs to the thread of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/cluster/cluster_view.h"
#include "framework/node/detail/door_network.h"
#include "framework/node/node_config.h"
#include "framework/routing/detail/node_clients.h"
#include "rpc/options.h"

namespace corolane::framework::detail {

// Makes `door` that of the nodes of this cluster. Fails as DoorNetwork::open().
Result<void> open_cluster_door(DoorNetwork& door, const ClusterConfig& config);
// What nodes prove to one another at that door.
rpc::Security cluster_security(const DoorNetwork& door, const ClusterConfig& config,
                               const std::string& shared_key);

class NodePeers {
 public:
  // `network` outlives it.
  explicit NodePeers(net::Network& network)
      : door_(network, "node.cluster.tls"), clients_(network) {}
  NodePeers(const NodePeers&) = delete;
  NodePeers& operator=(const NodePeers&) = delete;

  // Before the first call. Fails as open_cluster_door().
  Result<void> open(const ClusterConfig& config, const std::string& shared_key);

  // The client of one shard of another node, which the caller keeps during its call. Suspends until
  // it is connected. Fails as rpc::Client::connect().
  Result<std::shared_ptr<rpc::Client>> connect(const Member& member, std::size_t shard,
                                               Deadline deadline);
  // Passes the client of each shard of the other nodes to `ask`, or the error when there is none,
  // several at a time, each in a task of its own and until `deadline`. Suspends until all are
  // asked, at most for `times.all`. Those that had no turn by then, or because the caller was
  // cancelled or there was no stack, are passed with that error. `view` outlives the call.
  using Ask =
      std::function<void(const Member& member, std::size_t shard,
                         const Result<std::shared_ptr<rpc::Client>>& client, Deadline deadline)>;
  struct AskTimes {
    Duration each;  // The limit for one shard: it may hang.
    Duration all;
  };
  void ask_others(const ClusterView& view, std::uint64_t own_epoch, const AskTimes& times,
                  const Ask& ask);
  // Closes the connections to nodes that are gone. Never suspends.
  void keep_only(const ClusterView& view) { clients_.keep_only(view); }

  // See DoorNetwork.
  Result<void> prepare_change() { return door_.prepare_change(); }
  void change() { door_.change(); }

 private:
  DoorNetwork door_;
  NodeClients clients_;
};

}  // namespace corolane::framework::detail
