// SPDX-License-Identifier: MIT
#include "framework/node/detail/node_peers.h"

#include <vector>

#include "coroutine/sync/for_each.h"

namespace corolane::framework::detail {
namespace {

// Each takes a stack of the control thread, which has 1,024, and a further one while it connects.
// A cluster may have tens of thousands of shards.
constexpr std::size_t asked_at_once_max = 64;

}  // namespace

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

void NodePeers::ask_others(const ClusterView& view, std::uint64_t own_epoch, const AskTimes& times,
                           const Ask& ask) {
  struct Place {
    const Member& member;
    std::size_t shard;
    bool had_turn = false;
  };
  std::vector<Place> places;
  for (const Member& member : view.members()) {
    if (member.epoch == own_epoch) continue;
    for (std::size_t shard = 0; shard < member.shards.size(); ++shard) {
      places.push_back({.member = member, .shard = shard});
    }
  }
  const Deadline end = Deadline::after(times.all);
  const auto asked = coroutine::for_each(
      places,
      {.concurrency = asked_at_once_max,
       .name = "ask another node",
       .task = {.purpose = coroutine::StackPool::Purpose::control}},
      [&](Place& place) {
        place.had_turn = true;
        const Deadline deadline = earlier(end, Deadline::after(times.each));
        ask(place.member, place.shard, connect(place.member, place.shard, deadline), deadline);
      },
      end);
  if (asked) return;
  for (const Place& place : places) {
    if (!place.had_turn) ask(place.member, place.shard, asked.error(), end);
  }
}

}  // namespace corolane::framework::detail
