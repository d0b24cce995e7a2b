// SPDX-License-Identifier: MIT
#include "framework/store/detail/redis_script.h"

#include <utility>
#include <vector>

#include "coroutine/base/encoding.h"
#include "net/crypto.h"

namespace corolane::framework::detail {

RedisScript::RedisScript(std::string_view text) : text_(text), hash_(to_hex(net::sha1(text))) {}

Result<RedisReply> checked(const std::string& server, Result<RedisReply> reply) {
  if (!reply || reply->kind != RedisReply::Kind::error) return reply;
  return redis_error(reply->text).with_context(server);
}

Result<RedisReply> run_script(const RedisClient::Ask& ask, const RedisScript& script,
                              std::span<const std::string_view> words) {
  std::vector<std::string_view> command = {"EVALSHA", script.hash()};
  command.insert(command.end(), words.begin(), words.end());
  auto reply = ask(command);
  if (reply && reply->kind == RedisReply::Kind::error && reply->text.starts_with("NOSCRIPT")) {
    // The script has not run: the server was restarted, or its script cache was flushed.
    command[0] = "EVAL";
    command[1] = script.text();
    reply = ask(command);
  }
  return reply;
}

Result<RedisReply> run_script(RedisClient& client, const RedisScript& script,
                              std::span<const std::string_view> words, Deadline deadline) {
  const auto ask = [&](std::span<const std::string_view> command) {
    return client.call(command, deadline);
  };
  return checked(client.name(), run_script(ask, script, words));
}

}  // namespace corolane::framework::detail
