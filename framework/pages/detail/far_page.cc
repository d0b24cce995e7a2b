// SPDX-License-Identifier: MIT
#include "framework/pages/detail/far_page.h"

#include <algorithm>
#include <cstddef>

#include "framework/node/detail/node_peers.h"
#include "framework/node/inspection.corolane.h"
#include "framework/node/node.h"
#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {
namespace {

constexpr std::size_t asked_shards_max = 2;

Result<PageReply> ask(Node& node, const Member& member, std::size_t shard,
                      const PageRequest& request, Deadline deadline) {
  auto client = node.peers().connect(member, shard, deadline);
  if (!client) return client.error();
  return InspectionClient(**client).page(request, {.deadline = deadline});
}

}  // namespace

Result<Json> far_page(Node& node, const Member& member, const std::string& target) {
  PageRequest request;
  request.set_target(target);
  Result<PageReply> reply = Error(Code::unavailable, "the node has no shard");
  const std::size_t count = std::min(member.shards.size(), asked_shards_max);
  for (std::size_t i = 0; i < count; ++i) {
    reply = ask(node, member, i, request, Deadline::after(far_page_time_max / count));
    const bool is_silent = !reply && (reply.error().code() == Code::deadline_exceeded ||
                                      reply.error().code() == Code::unavailable);
    if (!is_silent) break;
  }
  if (!reply) return reply.error();
  if (reply->status() != 200) return Error(Code::not_found, reply->body());
  return Json::parse(reply->body());
}

std::string no_answer_text(const Error& error) {
  const bool is_silent =
      error.code() == Code::deadline_exceeded || error.code() == Code::unavailable;
  if (is_silent)
    return "has not answered within " + fixed_text(in_seconds(far_page_time_max), 1) + "s";
  if (error.code() == Code::unimplemented) return "runs a former build, which cannot tell";
  return "has answered " + error.to_string();
}

}  // namespace corolane::framework::detail
