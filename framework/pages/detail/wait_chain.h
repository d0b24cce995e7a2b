// SPDX-License-Identifier: MIT
// What an object waits for, followed over locks, shards and nodes to what would end it.
//
//   const WaitChain chain = follow_waits(node, {"chess.Player", "ada"});
//   page["chain"] = chain.links;
//   page["verdict"] = chain.sentence + ". " + chain.ends;
#pragma once

#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "framework/admin/json.h"
#include "framework/cluster/cluster_view.h"
#include "framework/pages/detail/pages.h"

namespace corolane::framework::detail {

struct WaitChain {
  // Each with "object", "node", "shard", "kind", "text", "seconds", "task", "made_at", "holder" and
  // "deadline_seconds".
  Json links = Json::array();
  // "runs Slow for 2.1s, waits for Add of Guild/b on node b, which runs Add for 2.0s, waits for
  // ...".
  std::string sentence;
  // The same without its first link.
  std::string rest;
  // "It ends with an answer of the store, at the latest in 4.8s."; empty when nothing waits.
  std::string ends;
};

// Suspends: each node on the way is asked for up to half a second, and named when it does not
// answer. An object that occurs again ends the chain: that is a cycle.
WaitChain follow_waits(Node& node, const ObjectName& first);

// The part of the chain that this node knows: {"links": [...], "next": {"type", "id"} or null}.
// Suspends.
Result<Json> own_links(Node& node, const ObjectName& name);

// Where the object lives: null when no node of this cluster owns it. `view` is null on a node
// without a cluster.
struct ObjectPlace {
  bool is_here = false;
  const Member* member = nullptr;
};
ObjectPlace place_of(const Node& node, const ClusterView* view, const ObjectName& name);

// "/objects/chess.Player/ada".
std::string path_of(const ObjectName& name);
// "Player/ada": without the package.
std::string short_name(std::string_view type, std::string_view id);

}  // namespace corolane::framework::detail
