// The connections of one shard to the shards of other nodes: one each, made at the first call.
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
  // Of one shard, to one of another node, at the same time; what it subscribes to there included.
  static constexpr std::size_t calls_max = 100'000;

  // `network` outlives it.
  explicit NodeClients(net::Network& network);
  NodeClients(const NodeClients&) = delete;
  NodeClients& operator=(const NodeClients&) = delete;
  // No task may be inside of a call. Suspends.
  ~NodeClients() { closing_.cancel_and_join(); }

  // How the connections that are made from now on prove that they are from a node.
  void set_security(rpc::Security security) { options_.security = std::move(security); }

  // Kept by the caller while it calls.
  std::shared_ptr<rpc::Client> of(const Member& member, std::size_t shard);
  // Closes those to nodes that are gone. Never suspends.
  void keep_only(const ClusterView& view);

  std::size_t count() const { return clients_.size(); }
  // Shows all of them: `see` of the epoch of the node, its shard, and the client.
  template <typename F>
  void for_each(F&& see) const {
    for (const auto& [key, client] : clients_) see(key.first, key.second, *client);
  }

 private:
  using Key = std::pair<std::uint64_t, std::size_t>;  // Epoch of the node, shard.

  net::Network& network_;
  rpc::Client::Options options_;
  std::map<Key, std::shared_ptr<rpc::Client>> clients_;
  coroutine::TaskGroup closing_;
};

}  // namespace corolane::framework::detail
