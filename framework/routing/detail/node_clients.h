// SPDX-License-Identifier: MIT
// The connections of one shard to other nodes, opened by the first call. Calls of objects go to one
// shard of each node, whatever the shard of the object: see ObjectRouter::forward(). So a node of S
// shards has S connections to each other node, not S times S.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "coroutine/task_group.h"
#include "framework/cluster/cluster_view.h"
#include "net/network.h"
#include "rpc/client/client.h"

namespace corolane::framework::detail {

class NodeClients {
 public:
  // Concurrent calls of one connection.
  static constexpr std::size_t calls_max = 100'000;

  // `network` outlives the clients, unless set_security() names another.
  explicit NodeClients(net::Network& network);
  NodeClients(const NodeClients&) = delete;
  NodeClients& operator=(const NodeClients&) = delete;
  // No call may be in progress. Suspends.
  ~NodeClients() { closing_.cancel_and_join(); }

  // How new connections authenticate this node, and the network on which they are made, which
  // outlives the clients.
  void set_security(rpc::Security security, net::Network& network) {
    options_.security = std::move(security);
    network_ = &network;
  }

  // The caller keeps it during its call.
  std::shared_ptr<rpc::Client> of(const Member& member, std::size_t shard);
  // Closes the connections to nodes that are gone. Never suspends.
  void keep_only(const ClusterView& view);

  std::size_t count() const { return clients_.size(); }
  // Calls see(node epoch, shard, client) for each connection.
  template <typename F>
  void for_each(F&& see) const {
    for (const auto& [key, client] : clients_) see(key.first, key.second, *client);
  }

 private:
  using Key = std::pair<std::uint64_t, std::size_t>;  // Epoch of the node, shard.

  net::Network* network_;
  rpc::Client::Options options_;
  std::map<Key, std::shared_ptr<rpc::Client>> clients_;
  coroutine::TaskGroup closing_;
};

}  // namespace corolane::framework::detail
