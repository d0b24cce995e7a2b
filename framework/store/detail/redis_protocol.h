// The protocol of Redis (RESP2, https://redis.io/docs/reference/protocol-spec/) as bytes, without a
// connection. Its .cc is the file that sees hiredis.
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
  std::string text = {};  // Also of an error.
  std::int64_t number = 0;
  std::vector<RedisReply> items = {};  // Of a list.
};

// A command of any words, which may be any bytes.
std::string redis_command(std::span<const std::string_view> words);

// Cuts replies out of whatever pieces come.
class RedisReplyReader {
 public:
  // A reply is no longer than that, in bytes.
  explicit RedisReplyReader(std::size_t reply_bytes_max);
  ~RedisReplyReader();
  RedisReplyReader(RedisReplyReader&& other) noexcept;
  RedisReplyReader& operator=(RedisReplyReader&& other) noexcept;

  // Fails with unavailable when a reply is too long; then, as after any failure, it is of no use
  // any more.
  Result<void> feed(std::span<const std::byte> bytes);
  // The next whole reply, or nothing until more is fed. Fails with unavailable when it is not the
  // protocol.
  Result<std::optional<RedisReply>> next();

 private:
  struct Raw;

  std::size_t reply_bytes_max_;
  std::unique_ptr<Raw> raw_;
};

// What an error of the server means here: its first word is a code of Redis. A script's error is
// that of the command in it.
Error redis_error(std::string_view text);

}  // namespace corolane::framework::detail
