// SPDX-License-Identifier: MIT
#include "framework/store/redis_store.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "coroutine/base/text.h"
#include "framework/store/detail/redis_cluster.h"
#include "framework/store/detail/redis_places.h"
#include "framework/store/detail/redis_script.h"
#include "framework/store/detail/redis_servers.h"
#include "framework/store/detail/refusals.h"

namespace corolane::framework {
namespace {

using detail::RedisReply;
using detail::RedisScript;
using Kind = RedisReply::Kind;

// Numbers in Lua are doubles, exact only up to 2^53. So epochs are compared as strings of equal
// length, and versions only for equality.

// KEYS: object, empty, floor. ARGV: epoch, member of empty, when it may be forgotten. Returns the
// former content, or only the later epoch.
const RedisScript& seal_script() {
  static const RedisScript script(R"(
local found = redis.call('HMGET', KEYS[1], 'epoch', 'version', 'state', 'destroyed')
local last = found[1] or redis.call('HMGET', KEYS[3], 'epoch')[1]
if last and last > ARGV[1] then return {last} end
if found[1] ~= ARGV[1] then redis.call('HSET', KEYS[1], 'epoch', ARGV[1]) end
if not found[2] then redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2]) end
return {found[1] or '', found[2] or '0', found[3] or '', found[4] or ''}
)");
  return script;
}

// KEYS: object, empty, floor. ARGV: epoch, member of empty. It shares a connection with the owner's
// next seal, so it runs first. When the connection is lost in between, it may run later; the owner
// then finds its key gone and seals again.
const RedisScript& release_script() {
  static const RedisScript script(R"(
local found = redis.call('HMGET', KEYS[1], 'epoch', 'version')
if found[1] == ARGV[1] and not found[2] then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[2])
  local floor = redis.call('HMGET', KEYS[3], 'epoch')[1]
  if not floor or floor < ARGV[1] then redis.call('HSET', KEYS[3], 'epoch', ARGV[1]) end
end
return {}
)");
  return script;
}

// KEYS: object, due, empty. ARGV: epoch, version, version that follows, state, member of due and
// empty, its time in due or '', its time in empty or ''. Returns an empty list, or the conflicting
// epoch and version. A server whose memory is full refuses the first write of a script, so nothing
// is half done.
//
// A write of an earlier build leaves `destroyed` and the member of empty behind, which is harmless:
// the version is another one then.
const RedisScript& write_script() {
  static const RedisScript script(R"(
local found = redis.call('HMGET', KEYS[1], 'epoch', 'version', 'destroyed')
local version = found[2] or '0'
if found[1] ~= ARGV[1] or version ~= ARGV[2] then return {found[1] or '0', version} end
redis.call('HSET', KEYS[1], 'version', ARGV[3], 'state', ARGV[4])
if ARGV[6] == '' then
  redis.call('ZREM', KEYS[2], ARGV[5])
else
  redis.call('ZADD', KEYS[2], ARGV[6], ARGV[5])
end
if ARGV[7] ~= '' then
  redis.call('HSET', KEYS[1], 'destroyed', ARGV[3])
  redis.call('ZADD', KEYS[3], ARGV[7], ARGV[5])
elseif found[3] or not found[2] then
  redis.call('HDEL', KEYS[1], 'destroyed')
  redis.call('ZREM', KEYS[3], ARGV[5])
end
return {}
)");
  return script;
}

// What an id of more than 1,024 partitions ends with. A build that knows only 1,024 takes it for a
// part of the id, and refuses to use the store: its directory has another one.
constexpr std::string_view suffix_function = R"(
local function suffix(count)
  if count == '1024' then return '' end
  return ' in ' .. count .. ' partitions'
end
)";

// KEYS: directory. ARGV: id, revision, generation, whether it may replace the noted one, the number
// of partitions or '0'. Returns what is noted now, or only the other number that is noted.
const RedisScript& note_directory_script() {
  static const std::string text = std::string(suffix_function) + R"(
local noted = redis.call('HMGET', KEYS[1], 'id', 'revision', 'generation', 'partitions')
local count = noted[4] or '1024'
if ARGV[5] ~= '0' and count ~= ARGV[5] then
  if noted[1] or noted[4] then return {count} end
  count = ARGV[5]
  redis.call('HSET', KEYS[1], 'partitions', count)
end
local more = suffix(count)
local id = ARGV[1] .. more
local continues = noted[1] == id and noted[3] == ARGV[3] and noted[2] <= ARGV[2]
if not noted[2] or continues or (ARGV[4] == '1' and ARGV[3] > noted[3]) then
  redis.call('HSET', KEYS[1], 'id', id, 'revision', ARGV[2], 'generation', ARGV[3])
  return {ARGV[1], ARGV[2], ARGV[3]}
end
if more == '' then return {noted[1], noted[2], noted[3]} end
if string.sub(noted[1], -#more) == more then
  return {string.sub(noted[1], 1, -#more - 1), noted[2], noted[3]}
end
return {noted[1] .. ' of a former build', noted[2], noted[3]}
)";
  static const RedisScript script(text);
  return script;
}

// KEYS: directory. ARGV: the wanted number of partitions, '1' if the store was used before. Returns
// the number. Former builds have noted none. An id without the rest keeps them away even before
// this build notes its directory.
const RedisScript& partition_count_script() {
  static const std::string text = std::string(suffix_function) + R"(
local noted = redis.call('HMGET', KEYS[1], 'id', 'partitions')
if noted[2] then return noted[2] end
if noted[1] or ARGV[2] == '1' then return '1024' end
redis.call('HSET', KEYS[1], 'partitions', ARGV[1])
if ARGV[1] ~= '1024' then redis.call('HSET', KEYS[1], 'id', suffix(ARGV[1])) end
return ARGV[1]
)";
  static const RedisScript script(text);
  return script;
}

// KEYS: epoch. Returns whether that key, a number, is there. EXISTS would be a further permission
// that users have to give.
const RedisScript& is_there_script() {
  static const RedisScript script(R"(
local found = redis.pcall('HMGET', KEYS[1], 'value')
if found.err then return 1 end
return 0
)");
  return script;
}

// KEYS: empty, floor. ARGV: now, count, what precedes a member in the name of its key. Returns the
// number of members that are gone. It reads all keys before it removes one: the member of a cluster
// that gives a partition away refuses to read a key that has left, which ends the script.
const RedisScript& forget_script() {
  static const RedisScript script(R"(
local members = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
local before = redis.call('HMGET', KEYS[2], 'epoch')[1] or ''
local floor = before
local gone = {}
for _, member in ipairs(members) do
  local key = ARGV[3] .. member
  local found = redis.call('HMGET', key, 'version', 'destroyed', 'epoch')
  if not found[1] or found[1] == found[2] then
    table.insert(gone, key)
    if found[3] and found[3] > floor then floor = found[3] end
  end
end
for _, key in ipairs(gone) do redis.call('DEL', key) end
for _, member in ipairs(members) do redis.call('ZREM', KEYS[1], member) end
if floor ~= before then redis.call('HSET', KEYS[2], 'epoch', floor) end
return #members
)");
  return script;
}

// Pads the number so that strings compare as the numbers do.
std::string epoch_text(std::uint64_t epoch) {
  constexpr std::size_t digit_count = std::numeric_limits<std::uint64_t>::digits10 + 1;
  const std::string digits = std::to_string(epoch);
  return std::string(digit_count - digits.size(), '0') + digits;
}

template <typename T>
std::optional<T> number_of(const RedisReply& reply) {
  T number = 0;
  const char* const end = reply.text.data() + reply.text.size();
  const auto read = std::from_chars(reply.text.data(), end, number);
  if (reply.kind != Kind::text || read.ec != std::errc() || read.ptr != end) return {};
  return number;
}

// Clamps a time to the exact range of a double, 285,000 years.
std::string time_text(WallTime time) {
  constexpr std::int64_t exact_max = std::int64_t{1} << 53;
  const std::int64_t count = time.time_since_epoch().count();
  return std::to_string(std::clamp(count, -exact_max, exact_max));
}

// For calls that only read: drops maybe_executed.
Error without_doubt(const Error& error) {
  return Error(error.code(), error.message()).with_retry_after(error.retry_after());
}

std::unique_ptr<detail::RedisPlaces> make_places(net::Network& network,
                                                 RedisStore::Options options) {
  if (options.is_cluster)
    return std::make_unique<detail::RedisCluster>(network, std::move(options));
  return std::make_unique<detail::RedisServers>(network, std::move(options));
}

}  // namespace

// The keys of an object and its partition, and its member name in two of them.
struct RedisStore::Keys {
  detail::RedisPlace place;
  std::string object;
  std::string due;
  std::string empty;
  std::string floor;
  std::string member;
};

RedisStore::RedisStore(net::Network& network, Options options)
    : key_prefix_(options.key_prefix), places_(make_places(network, std::move(options))) {}

RedisStore::~RedisStore() = default;

std::string RedisStore::name() const { return places_->name(); }

Result<RedisReply> RedisStore::call(detail::RedisPlace place,
                                    std::span<const std::string_view> words, Deadline deadline) {
  auto reply = places_->call(place, words, deadline);
  return detail::checked(places_->name_of(place), std::move(reply));
}

Result<RedisReply> RedisStore::run(detail::RedisPlace place, const RedisScript& script,
                                   std::span<const std::string_view> words, Deadline deadline) {
  const auto ask = [&](std::span<const std::string_view> command) {
    return places_->call(place, command, deadline);
  };
  auto reply = detail::run_script(ask, script, words);
  return detail::checked(places_->name_of(place), std::move(reply));
}

Error RedisStore::not_ours(detail::RedisPlace place, std::string_view key) const {
  return Error(Code::data_loss, places_->name_of(place) + ": " + quote(key) +
                                    " holds other data; use another key prefix");
}

// The braces name the place, which a Redis Cluster hashes.
std::string RedisStore::partition_key(Partition partition, std::string_view rest) const {
  const detail::RedisPlace place = detail::redis_place_of(partition);
  std::string key = key_prefix_ + '{' + std::to_string(place) + '}';
  if (partition != place) key += ':' + std::to_string(partition);
  return key.append(rest);
}

Result<RedisStore::Keys> RedisStore::keys_of(const ObjectKey& key) const {
  // The first colon ends the type.
  if (key.type.contains(':')) {
    return Error(Code::invalid_argument, "the type " + quote(key.type) + " has a colon");
  }
  const Partition partition = key.partition;
  std::string member = std::string(key.type) + ':' + std::string(key.id);
  return Keys{.place = detail::redis_place_of(partition),
              .object = partition_key(partition, ":object:" + member),
              .due = partition_key(partition, ":due"),
              .empty = partition_key(partition, ":empty"),
              .floor = partition_key(partition, ":floor"),
              .member = std::move(member)};
}

Result<std::size_t> RedisStore::partition_count(std::size_t wanted, Deadline deadline) {
  if (auto met = places_->meet(deadline); !met) return met.error();
  // A node that is alone has noted no directory, but has drawn an epoch.
  const std::string epoch = epoch_key();
  const std::array<std::string_view, 2> question = {"1", epoch};
  auto used = run(detail::epoch_place, is_there_script(), question, deadline);
  if (!used) return std::move(used.error());
  const std::string key = key_prefix_ + "directory";
  const std::string count = std::to_string(wanted);
  const std::array<std::string_view, 4> words = {"1", key, count, used->number == 0 ? "0" : "1"};
  auto reply = run(detail::directory_place, partition_count_script(), words, deadline);
  if (!reply) return std::move(reply.error());
  const auto noted = number_of<std::size_t>(*reply);
  if (!noted || !is_partition_count(*noted)) return not_ours(detail::directory_place, key);
  return *noted;
}

Result<std::uint64_t> RedisStore::next_epoch(Deadline deadline) {
  if (auto met = places_->meet(deadline); !met) return met.error();
  const std::string key = epoch_key();
  const std::array<std::string_view, 2> words = {"INCR", key};
  auto reply = call(detail::epoch_place, words, deadline);
  if (!reply) return std::move(reply.error());
  if (reply->kind != Kind::number || reply->number <= 0) return not_ours(detail::epoch_place, key);
  return static_cast<std::uint64_t>(reply->number);
}

Result<void> RedisStore::try_room(Deadline deadline) {
  std::optional<Error> failed;
  bool is_answered = false;
  for (const detail::RedisPlace place : places_->one_of_each()) {
    const std::string key = partition_key(place, ":room");
    const std::array<std::string_view, 2> words = {"INCR", key};
    auto reply = call(place, words, deadline);
    is_answered = is_answered || reply.has_value();
    if (reply) continue;
    if (reply.error().code() == Code::resource_exhausted) return std::move(reply.error());
    failed = std::move(reply.error());
  }
  // A server that is away says nothing about the room of the others.
  if (failed && !is_answered) return *std::move(failed);
  return {};
}

Result<StoredObject> RedisStore::seal(const ObjectKey& key, std::uint64_t epoch,
                                      Deadline deadline) {
  const auto keys = keys_of(key);
  if (!keys) return keys.error();
  const std::string epoch_now = epoch_text(epoch);
  const std::string forget_at = time_text(clock_.now() + empty_row_time);
  const std::array<std::string_view, 7> words = {"3",       keys->object, keys->empty, keys->floor,
                                                 epoch_now, keys->member, forget_at};
  auto reply = run(keys->place, seal_script(), words, deadline);
  if (!reply) return std::move(reply.error());
  if (reply->items.size() == 1) {
    const auto found = number_of<std::uint64_t>(reply->items[0]);
    if (!found) return not_ours(keys->place, keys->object);
    return detail::sealed_by_later_owner(key, *found, epoch);
  }
  if (reply->items.size() != 4) return not_ours(keys->place, keys->object);
  const auto version = number_of<std::uint64_t>(reply->items[1]);
  if (!version) return not_ours(keys->place, keys->object);
  return StoredObject{.version = *version,
                      .bytes = std::move(reply->items[2].text),
                      .is_tombstone = reply->items[1].text == reply->items[3].text};
}

Result<void> RedisStore::release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) {
  const auto keys = keys_of(key);
  if (!keys) return keys.error();
  const std::string epoch_now = epoch_text(epoch);
  const std::array<std::string_view, 6> words = {"3",         keys->object, keys->empty,
                                                 keys->floor, epoch_now,    keys->member};
  auto reply = run(keys->place, release_script(), words, deadline);
  if (!reply) return std::move(reply.error());
  return {};
}

Result<void> RedisStore::write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                               const ObjectWrite& object, Deadline deadline) {
  const auto keys = keys_of(key);
  if (!keys) return keys.error();
  const std::string epoch_now = epoch_text(epoch);
  const std::string before = std::to_string(version);
  const std::string after = std::to_string(object.version_after(version));
  const std::string wake_at = object.wake_at ? time_text(*object.wake_at) : "";
  const std::string forget_at = object.forget_at ? time_text(*object.forget_at) : "";
  const std::array<std::string_view, 11> words = {
      "3",   keys->object, keys->due,    keys->empty, epoch_now, before,
      after, object.bytes, keys->member, wake_at,     forget_at};
  const auto reply = run(keys->place, write_script(), words, deadline);
  if (!reply) return reply.error();
  if (reply->kind == Kind::list && reply->items.empty()) return {};
  if (reply->items.size() != 2) return not_ours(keys->place, keys->object);
  const auto found_epoch = number_of<std::uint64_t>(reply->items[0]);
  const auto found_version = number_of<std::uint64_t>(reply->items[1]);
  if (!found_epoch || !found_version) return not_ours(keys->place, keys->object);
  return detail::not_to_be_replaced(key, {.epoch = *found_epoch, .version = *found_version},
                                    {.epoch = epoch, .version = version});
}

Result<std::vector<DueObject>> RedisStore::due(Partition partition, WallTime until,
                                               std::size_t count_max, Deadline deadline) {
  constexpr std::size_t limit_max = std::numeric_limits<std::int64_t>::max();
  const std::string key = partition_key(partition, ":due");
  const std::string last = time_text(until);
  const std::string limit = std::to_string(std::min(count_max, limit_max));
  const std::array<std::string_view, 8> words = {"ZRANGEBYSCORE", key,     "-inf", last,
                                                 "WITHSCORES",    "LIMIT", "0",    limit};
  const detail::RedisPlace place = detail::redis_place_of(partition);
  auto reply = call(place, words, deadline);
  if (!reply) return without_doubt(reply.error());

  std::vector<DueObject> objects;
  if (reply->kind != Kind::list || reply->items.size() % 2 != 0) return not_ours(place, key);
  for (std::size_t at = 0; at < reply->items.size(); at += 2) {
    const std::string& member = reply->items[at].text;
    const auto colon = member.find(':');
    const auto wake_at = number_of<std::int64_t>(reply->items[at + 1]);
    if (colon == member.npos || !wake_at) return not_ours(place, key);
    objects.push_back({.type = member.substr(0, colon),
                       .id = member.substr(colon + 1),
                       .wake_at = WallTime(std::chrono::milliseconds(*wake_at))});
  }
  return objects;
}

Result<std::size_t> RedisStore::forget(Partition partition, WallTime now, std::size_t count_max,
                                       Deadline deadline) {
  const std::string key = partition_key(partition, ":empty");
  const std::string until = time_text(now);
  const std::string limit = std::to_string(count_max);
  const std::string before_members = partition_key(partition, ":object:");
  const std::string floor = partition_key(partition, ":floor");
  const std::array<std::string_view, 6> words = {"2", key, floor, until, limit, before_members};
  const detail::RedisPlace place = detail::redis_place_of(partition);
  const auto reply = run(place, forget_script(), words, deadline);
  if (!reply) return reply.error();
  if (reply->kind != Kind::number || reply->number < 0) return not_ours(place, key);
  return static_cast<std::size_t>(reply->number);
}

Result<DirectoryMark> RedisStore::note_directory(const DirectoryMark& mark,
                                                 const NoteOptions& options, Deadline deadline) {
  if (auto met = places_->meet(deadline); !met) return met.error();
  const std::string key = key_prefix_ + "directory";
  const std::string revision = epoch_text(mark.revision);
  const std::string generation = epoch_text(mark.generation);
  const std::string count = std::to_string(options.partition_count);
  const std::array<std::string_view, 7> words = {
      "1", key, mark.id, revision, generation, options.may_replace ? "1" : "0", count};
  auto reply = run(detail::directory_place, note_directory_script(), words, deadline);
  if (!reply) return std::move(reply.error());
  if (reply->items.size() == 1) {
    return Error(Code::failed_precondition, places_->name_of(detail::directory_place) +
                                                " has objects in " + reply->items[0].text +
                                                " partitions, and this node looks for them in " +
                                                count + ": it was emptied, or is another one");
  }
  if (reply->items.size() != 3) return not_ours(detail::directory_place, key);
  const auto noted_revision = number_of<std::uint64_t>(reply->items[1]);
  const auto noted_generation = number_of<std::uint64_t>(reply->items[2]);
  if (!noted_revision || !noted_generation) return not_ours(detail::directory_place, key);
  return DirectoryMark{.id = std::move(reply->items[0].text),
                       .revision = *noted_revision,
                       .generation = *noted_generation};
}

}  // namespace corolane::framework
