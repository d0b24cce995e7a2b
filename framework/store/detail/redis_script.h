// SPDX-License-Identifier: MIT
// Scripts that a Redis runs atomically, and the errors of its replies as ours.
//
//   static const RedisScript script("return redis.call('HMGET', KEYS[1], 'epoch')");
//   const std::array<std::string_view, 2> words = {"1", key};
//   auto reply = run_script(client, script, words, deadline);
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/store/detail/redis_client.h"
#include "framework/store/detail/redis_protocol.h"

namespace corolane::framework::detail {

// The server caches it by its SHA-1.
class RedisScript {
 public:
  // `text` outlives it.
  explicit RedisScript(std::string_view text);
  std::string_view text() const { return text_; }
  std::string_view hash() const { return hash_; }

 private:
  std::string_view text_;
  std::string hash_;
};

// Turns a reply that is an error of the server into an error of ours, which names `server`.
Result<RedisReply> checked(const std::string& server, Result<RedisReply> reply);

// Calls a script by `ask`. `words` are the number of keys, the keys and the arguments. The reply
// may be an error of the server.
Result<RedisReply> run_script(const RedisClient::Ask& ask, const RedisScript& script,
                              std::span<const std::string_view> words);
// The same by `client`, until the deadline; fails also with the errors of the server.
Result<RedisReply> run_script(RedisClient& client, const RedisScript& script,
                              std::span<const std::string_view> words, Deadline deadline);

}  // namespace corolane::framework::detail
