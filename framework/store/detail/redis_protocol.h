// SPDX-License-Identifier: MIT
// The protocol of Redis (RESP2, https://redis.io/docs/reference/protocol-spec/) as bytes, without a
// connection. Only its .cc includes hiredis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::framework::detail {

struct RedisReply {
  enum class Kind : std::uint8_t { nothing, text, number, list, error };

  Kind kind = Kind::nothing;
  std::string text = {};  // Also the text of an error.
  std::int64_t number = 0;
  std::vector<RedisReply> items = {};  // The items of a list.
};

// Encodes a command; the words may contain any bytes.
std::string redis_command(std::span<const std::string_view> words);

// Assembles replies from input of any fragmentation.
class RedisReplyReader {
 public:
  // `reply_bytes_max` limits the size of a reply.
  explicit RedisReplyReader(std::size_t reply_bytes_max);
  ~RedisReplyReader();
  RedisReplyReader(RedisReplyReader&& other) noexcept;
  RedisReplyReader& operator=(RedisReplyReader&& other) noexcept;

  // Fails with unavailable when a reply is too long. After any failure the reader is unusable.
  Result<void> feed(std::span<const std::byte> bytes);
  // The next whole reply, or nothing until more is fed. Fails with unavailable when the input
  // violates the protocol.
  Result<std::optional<RedisReply>> next();

 private:
  struct Raw;

  std::size_t reply_bytes_max_;
  std::unique_ptr<Raw> raw_;
};

// Translates an error of the server, whose first word is a Redis code. An error in a script is
// translated as that of the failed command.
Error redis_error(std::string_view text);

}  // namespace corolane::framework::detail
