// SPDX-License-Identifier: MIT
#include "framework/store/detail/redis_script.h"

#include <utility>
#include <vector>

#include "coroutine/base/encoding.h"
#include "net/crypto.h"

namespace corolane::framework::detail {

RedisScript::RedisScript(std::string_view text) : text_(text), hash_(to_hex(net::sha1(text))) {}

Result<RedisReply> checked(const RedisClient& client, Result<RedisReply> reply) {
  if (!reply || reply->kind != RedisReply::Kind::error) return reply;
  return redis_error(reply->text).with_context(client.name());
}

Result<RedisReply> run_script(RedisClient& client, const RedisScript& script,
                              std::span<const std::string_view> words, Deadline deadline) {
  std::vector<std::string_view> command = {"EVALSHA", script.hash()};
  command.insert(command.end(), words.begin(), words.end());
  auto reply = client.call(command, deadline);
  if (reply && reply->kind == RedisReply::Kind::error && reply->text.starts_with("NOSCRIPT")) {
    // The script has not run: the server was restarted, or its script cache was flushed.
    command[0] = "EVAL";
    command[1] = script.text();
    reply = client.call(command, deadline);
  }
  return checked(client, std::move(reply));
}

}  // namespace corolane::framework::detail
