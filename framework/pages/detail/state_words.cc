// SPDX-License-Identifier: MIT
#include "framework/pages/detail/state_words.h"

#include "framework/cluster/cluster.h"
#include "framework/pages/detail/silent_shards.h"
#include "framework/store/detail/store_gate.h"

namespace corolane::framework::detail {

Json state_json(Node& node) {
  Json bad = Json::array();
  Json silent = Json::array();
  for (const ShardSilence& silence : node.silent_shards()) {
    silent.push_back(silence.shard);
    bad.push_back(silence_text(node, silence));
  }
  if (node.cluster() != nullptr && !node.fence().is_in_time()) {
    bad.push_back("fenced: it does not hear from the directory, and serves no object");
  }
  if (node.store_health().is_full()) bad.push_back("the store is full: it refuses changes");
  Json reasons = bad;
  if (node.is_stopping()) reasons.push_back("draining: it hands over what it has, and ends");
  if (node.cluster() != nullptr && node.fence().is_in_time() && !node.fence().has_lease()) {
    reasons.push_back("serving without the directory: the store proves each reply");
  }
  std::string text;
  for (const Json& reason : reasons.elements()) {
    text.append(text.empty() ? "" : "; ").append(reason.text());
  }
  const std::string_view level = bad.size() > 0 ? "bad" : reasons.size() > 0 ? "busy" : "good";
  return {{"text", text.empty() ? "serving" : text},
          {"level", level},
          {"reasons", std::move(reasons)},
          {"silent_shards", std::move(silent)}};
}

}  // namespace corolane::framework::detail
