// SPDX-License-Identifier: MIT
// /ready: for load balancers and probes.
#include "coroutine/base/text.h"
#include "framework/cluster/cluster.h"
#include "framework/diagnostics/detail/stall_watchdog.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "framework/store/detail/store_gate.h"

namespace corolane::framework::detail {
namespace {

std::vector<std::string> obstacles_of(Node& node) {
  std::vector<std::string> obstacles;
  if (node.is_stopping()) obstacles.emplace_back("the node is stopping");
  if (node.cluster() != nullptr && !node.fence().is_in_time()) {
    obstacles.emplace_back("the node is fenced: it does not hear from the directory");
  }
  if (node.store_health().is_full()) {
    obstacles.emplace_back("the store is full: it refuses writes");
  }
  const auto silent = node.silent_shards();
  bool is_stuck = node.stall_watchdog() != nullptr && node.stall_watchdog()->is_stuck();
  for (const ShardSilence& silence : silent) {
    if (silence.time < StallWatchdog::Options().stuck_time_min) continue;
    obstacles.push_back(silence_text(node, silence));
    is_stuck = false;
  }
  // That of a node without a control thread, or the control thread itself until a moment ago.
  if (is_stuck) obstacles.emplace_back("a loop is stuck; see /stalls");
  return obstacles;
}

}  // namespace

Result<net::HttpResponse> ready_page(Node& node, const net::HttpRequest& request) {
  const auto obstacles = obstacles_of(node);
  auto response = in_format(request, {{"ready", obstacles.empty()}, {"obstacles", obstacles}},
                            [](const Json& page) {
                              std::string text = page.at("ready").is_true() ? "ready\n" : "";
                              for (const Json& obstacle : page.at("obstacles").elements()) {
                                text.append(escaped(obstacle.text())).append("\n");
                              }
                              return text;
                            });
  if (response.status == 200 && !obstacles.empty()) response.status = 503;
  return response;
}

}  // namespace corolane::framework::detail
