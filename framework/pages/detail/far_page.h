// SPDX-License-Identifier: MIT
// A page of another node of the cluster.
//
//   auto page = far_page(node, member, "/cluster?of=node&format=json");
//   if (!page) return unknown_row(member, page.error());
#pragma once

#include <chrono>
#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "framework/admin/json.h"
#include "framework/cluster/cluster_view.h"

namespace corolane::framework {

class Node;

namespace detail {

// The time that one node has to answer.
inline constexpr Duration far_page_time_max = std::chrono::milliseconds(500);

// Returns the JSON of that page of the node, of those that NodePages shows. Suspends, for
// far_page_time_max at the most: when the first shard of the node is silent for half of that, the
// second one is asked. Fails with deadline_exceeded or unavailable when the node does not answer,
// with unimplemented when it runs a former build, and with not_found when it has no such page.
Result<Json> far_page(Node& node, const Member& member, const std::string& target);

// "has not answered within 0.5s", or the error of a node that has.
std::string no_answer_text(const Error& error);

}  // namespace detail
}  // namespace corolane::framework
