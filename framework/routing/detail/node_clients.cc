// SPDX-License-Identifier: MIT
#include "framework/routing/detail/node_clients.h"

#include <chrono>

namespace corolane::framework::detail {
namespace {

// The directory reports a node that is gone, and its objects have moved by then: calls do not wait
// for it to come back.
constexpr std::chrono::milliseconds unreachable_after(50);
constexpr std::chrono::milliseconds reconnect_delay_max(250);

}  // namespace

NodeClients::NodeClients(net::Network& network) : network_(&network) {
  options_.unreachable_after = unreachable_after;
  options_.reconnect_delay_max = reconnect_delay_max;
  options_.pending_count_max = calls_max;
}

std::shared_ptr<rpc::Client> NodeClients::of(const Member& member, std::size_t shard) {
  auto& client = clients_[{member.epoch, shard}];
  if (client == nullptr) {
    client = std::make_shared<rpc::Client>(*network_, member.shards[shard], options_);
  }
  return client;
}

void NodeClients::keep_only(const ClusterView& view) {
  for (auto at = clients_.begin(); at != clients_.end();) {
    if (view.find_member(at->first.first) != nullptr) {
      ++at;
      continue;
    }
    at->second->close();
    // The destructor suspends; callers in progress keep the client.
    auto spawned = closing_.spawn("close node client", [client = std::move(at->second)] {},
                                  {.purpose = coroutine::StackPool::Purpose::control});
    static_cast<void>(spawned);
    at = clients_.erase(at);
  }
}

}  // namespace corolane::framework::detail
