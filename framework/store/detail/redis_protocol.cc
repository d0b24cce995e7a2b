// SPDX-License-Identifier: MIT
#include "framework/store/detail/redis_protocol.h"

#include <hiredis/hiredis.h>

#include <array>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/text.h"

namespace corolane::framework::detail {
namespace {

RedisReply to_reply(const redisReply& raw) {
  using Kind = RedisReply::Kind;
  switch (raw.type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      return {.kind = Kind::text, .text = {raw.str, raw.len}};
    case REDIS_REPLY_ERROR:
      return {.kind = Kind::error, .text = {raw.str, raw.len}};
    case REDIS_REPLY_INTEGER:
      return {.kind = Kind::number, .number = raw.integer};
    case REDIS_REPLY_ARRAY: {
      RedisReply list = {.kind = Kind::list};
      list.items.reserve(raw.elements);
      for (const redisReply* const item : std::span(raw.element, raw.elements)) {
        list.items.push_back(to_reply(*item));
      }
      return list;
    }
    default:
      return {};
  }
}

struct KnownError {
  std::string_view word;
  Code code;
  const char* advice;
};

constexpr const char* in_cluster =
    "it is a member of a Redis Cluster: set node.store.redis.cluster, or use another server";

// https://redis.io/docs/reference/, and the texts in its server.c.
constexpr std::array known_errors = {
    KnownError{"NOAUTH", Code::unauthenticated, "it wants a password, and none is set"},
    KnownError{"WRONGPASS", Code::unauthenticated, "it does not know this user or password"},
    KnownError{"NOPERM", Code::permission_denied, "its user lacks the permission; see ACL SETUSER"},
    KnownError{"DENIED", Code::permission_denied, "it accepts no connections from other machines"},
    KnownError{"OOM", Code::resource_exhausted, "its memory is full; see maxmemory"},
    KnownError{"MISCONF", Code::unavailable, "it cannot write to its disk, so it takes no changes"},
    KnownError{"LOADING", Code::unavailable,
               "it is reading its data and will be ready soon; see redis-cli info persistence"},
    KnownError{"READONLY", Code::unavailable,
               "it is a replica and takes no changes: node.store.redis.servers must lead to its "
               "master, also after a failover; redis-cli info replication names it"},
    KnownError{"MASTERDOWN", Code::unavailable,
               "it is a replica that has lost its master: start that one, or let "
               "node.store.redis.servers lead to its successor"},
    KnownError{"NOREPLICAS", Code::unavailable,
               "it has too few replicas to take changes: start them; see min-replicas-to-write"},
    KnownError{"CLUSTERDOWN", Code::unavailable,
               "its cluster is incomplete; see redis-cli --cluster check"},
    KnownError{"TRYAGAIN", Code::unavailable, "its cluster is moving these keys"},
    KnownError{"BUSY", Code::unavailable, "it is blocked by another client's script"},
    KnownError{"MOVED", Code::failed_precondition, in_cluster},
    KnownError{"ASK", Code::failed_precondition, in_cluster},
    KnownError{"CROSSSLOT", Code::failed_precondition, in_cluster},
    KnownError{"WRONGTYPE", Code::data_loss,
               "a key of this name holds something else; use another key prefix"},
};

// "OOM command not allowed ..."; before Redis 7, an error in a script has a prefix: "ERR Error
// running script (..): @user_script: 3: -OOM command not allowed ...".
bool is_error(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == text.npos) return false;
  const bool begins = at == 0 || (text.starts_with("ERR") && text[at - 1] == '-');
  const std::size_t end = at + word.size();
  return begins && (end == text.size() || text[end] == ' ');
}

}  // namespace

std::string redis_command(std::span<const std::string_view> words) {
  std::vector<const char*> pointers;
  std::vector<std::size_t> sizes;
  for (const std::string_view word : words) {
    // An empty view may have a null pointer, which must not be copied from.
    pointers.push_back(word.empty() ? "" : word.data());
    sizes.push_back(word.size());
  }
  char* text = nullptr;
  // An int, and a long long since hiredis 1.1.
  const auto size =
      redisFormatCommandArgv(&text, static_cast<int>(words.size()), pointers.data(), sizes.data());
  check(size > 0, "there is memory for a command");
  std::string command(text, static_cast<std::size_t>(size));
  redisFreeCommand(text);
  return command;
}

struct RedisReplyReader::Raw {
  std::unique_ptr<redisReader, void (*)(redisReader*)> reader{redisReaderCreate(),
                                                              &redisReaderFree};
};

RedisReplyReader::RedisReplyReader(std::size_t reply_bytes_max)
    : reply_bytes_max_(reply_bytes_max), raw_(std::make_unique<Raw>()) {
  check(raw_->reader != nullptr, "there is memory for a reader");
}

RedisReplyReader::~RedisReplyReader() = default;
RedisReplyReader::RedisReplyReader(RedisReplyReader&& other) noexcept = default;
RedisReplyReader& RedisReplyReader::operator=(RedisReplyReader&& other) noexcept = default;

Result<void> RedisReplyReader::feed(std::span<const std::byte> bytes) {
  const std::size_t unread = raw_->reader->len - raw_->reader->pos;
  if (unread + bytes.size() > reply_bytes_max_) {
    return Error(Code::unavailable,
                 "a reply is longer than " + std::to_string(reply_bytes_max_) + " bytes");
  }
  redisReaderFeed(raw_->reader.get(), reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {};
}

Result<std::optional<RedisReply>> RedisReplyReader::next() {
  void* raw = nullptr;
  if (redisReaderGetReply(raw_->reader.get(), &raw) != REDIS_OK) {
    return Error(Code::unavailable,
                 "it does not speak the protocol of Redis: " + escaped(raw_->reader->errstr));
  }
  if (raw == nullptr) return std::optional<RedisReply>();
  const std::unique_ptr<void, void (*)(void*)> owned(raw, &freeReplyObject);
  return std::optional(to_reply(*static_cast<const redisReply*>(raw)));
}

Error redis_error(std::string_view text) {
  const std::string told = escaped(text);
  // A full disk is reported as resource_exhausted, since making room solves it.
  if (is_error(text, "MISCONF") && text.contains("No space left")) {
    return Error(Code::resource_exhausted, "its disk is full (" + told + ")");
  }
  for (const KnownError& known : known_errors) {
    if (is_error(text, known.word)) {
      return Error(known.code, std::string(known.advice) + " (" + told + ")");
    }
  }
  if (text.starts_with("ERR max number of clients")) {
    return Error(Code::unavailable, "it has too many connections; see maxclients (" + told + ")");
  }
  // The first command of a store on a connection.
  if (text.starts_with("ERR unknown command") && text.contains("EVAL")) {
    return Error(Code::failed_precondition,
                 "it is a Sentinel, or no Redis: node.store.redis.servers lists the masters "
                 "themselves; redis-cli -p 26379 sentinel masters names them (" +
                     told + ")");
  }
  return Error(Code::failed_precondition, "it refuses: " + told);
}

}  // namespace corolane::framework::detail
