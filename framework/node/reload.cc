// SPDX-License-Identifier: MIT
#include "framework/node/reload.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string_view>

namespace corolane::framework {
namespace {

// Lists changes as "node.log_level: "info" -> "debug", ...": the live ones, or the others.
std::string list_of(const std::vector<config::Change>& changes, bool is_live) {
  std::string text;
  for (const config::Change& change : changes) {
    if (change.is_live != is_live) continue;
    if (!text.empty()) text += ", ";
    text.append(change.path).append(": ").append(change.before);
    text.append(" -> ").append(change.after);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

Result<std::vector<config::Change>> Reload::run() {
  const std::scoped_lock lock(one_at_a_time_);
  auto changes = reload();
  if (!changes) {
    node_.log().error("configuration not reloaded; nothing has changed",
                      {{"error", changes.error().message()}});
    return changes;
  }
  log(*changes);
  pending_.clear();
  std::ranges::copy_if(*changes, std::back_inserter(pending_),
                       [](const config::Change& change) { return !change.is_live; });
  if (options_.on_change) options_.on_change(node_.config());
  return changes;
}

Result<std::vector<config::Change>> Reload::reload() {
  if (options_.is_refused) {
    return Error(
        Code::failed_precondition,
        "a recorded node keeps its configuration: a reload would not be part of the recording");
  }
  // Its parts are not all there, and its services keep what they were made with.
  if (node_.is_starting()) {
    return Error(Code::unavailable, "the node has not started yet: try again once it serves");
  }
  if (node_.is_stopping()) return Error(Code::unavailable, "the node is stopping");
  return source_.reload(node_);
}

// Logged at any level: an operator who raises the log level wants to find that in the log.
void Reload::log(const std::vector<config::Change>& changes) {
  node_.log().always(
      "configuration reloaded",
      {{"changed", list_of(changes, /*is_live=*/true)},
       {"at_next_start", list_of(changes, /*is_live=*/false)},
       {"tls", node_.config().clients.tls.certificate_file.empty() ? "none" : "read again"}});
}

}  // namespace corolane::framework
