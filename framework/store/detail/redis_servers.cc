// SPDX-License-Identifier: MIT
#include "framework/store/detail/redis_servers.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/encoding.h"
#include "coroutine/base/text.h"
#include "coroutine/task_group.h"
#include "framework/store/detail/redis_script.h"
#include "net/crypto.h"

namespace corolane::framework::detail {
namespace {

using Kind = RedisReply::Kind;

constexpr std::chrono::milliseconds meet_time_max{1'000};
constexpr coroutine::TaskOptions meet_task = {.purpose = coroutine::StackPool::Purpose::control};

// KEYS: mark. ARGV: store, server, servers, id. Returns the mark that is there now.
const RedisScript& mark_script() {
  static const RedisScript script(R"(
local function mark()
  return redis.call('HMGET', KEYS[1], 'store', 'server', 'servers', 'id', 'known')
end
if not mark()[1] then
  redis.call('HSET', KEYS[1], 'store', ARGV[1], 'server', ARGV[2], 'servers', ARGV[3], 'id',
             ARGV[4])
end
return mark()
)");
  return script;
}

// KEYS: list of servers. ARGV: server, id. Returns the id that is listed now.
const RedisScript& list_script() {
  static const RedisScript script(R"(
local found = redis.call('HMGET', KEYS[1], ARGV[1])[1]
if not found then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return found or ARGV[2]
)");
  return script;
}

// KEYS: directory, epoch. Returns whether nodes have used the server. The epoch is no hash, so its
// existence is an error.
const RedisScript& used_script() {
  static const RedisScript script(R"(
local is_noted = redis.call('HMGET', KEYS[1], 'id')[1]
local epoch = redis.pcall('HMGET', KEYS[2], 'any')
return (is_noted or epoch.err) and 1 or 0
)");
  return script;
}

std::string new_id() {
  std::array<std::byte, 8> id{};
  net::fill_with_random_bytes(id);
  return to_hex(id);
}

constexpr std::string_view advice =
    "; node.store.redis.servers lists the same servers, in the same order, on all nodes and for as "
    "long as the objects exist";

constexpr std::string_view loss_advice =
    ": it has lost its data, or it is another server. Restore its data, or correct "
    "node.store.redis.servers";

}  // namespace

struct RedisServers::Mark {
  std::string store;
  std::string server;
  std::string servers;
  std::string id;
  bool is_known = false;  // The first server lists it.

  // Nothing when there is none.
  static Result<std::optional<Mark>> read(Result<RedisReply> reply) {
    if (!reply) return std::move(reply.error());
    if (reply->kind == Kind::error) return redis_error(reply->text);
    if (reply->kind != Kind::list || reply->items.size() != 5) {
      return Error(Code::unavailable, "it does not answer as a Redis does");
    }
    auto& items = reply->items;
    if (items[0].kind != Kind::text) return std::optional<Mark>();
    return std::optional(Mark{.store = std::move(items[0].text),
                              .server = std::move(items[1].text),
                              .servers = std::move(items[2].text),
                              .id = std::move(items[3].text),
                              .is_known = items[4].kind == Kind::text});
  }
};

RedisServers::RedisServers(net::Network& network, RedisStore::Options options)
    : network_(network), options_(std::move(options)), is_met_(options_.endpoints.size()) {
  check(!options_.endpoints.empty(), "a store has a server");
  for (std::size_t index = 0; index < options_.endpoints.size(); ++index) {
    clients_.push_back(std::make_unique<RedisClient>(
        network, options_, options_.endpoints[index],
        [this, index](const RedisClient::Ask& ask, Deadline deadline) {
          return admit(index, ask, deadline);
        }));
    name_ += name_.empty()
                 ? clients_.back()->name()
                 : ", " + clients_.back()->name().substr(std::string_view("redis ").size());
  }
}

RedisServers::~RedisServers() = default;

std::string RedisServers::place_of(std::size_t index) const {
  return "server " + std::to_string(index + 1) + " of " + std::to_string(clients_.size());
}

std::vector<RedisPlace> RedisServers::one_of_each() const {
  std::vector<RedisPlace> places;
  for (std::size_t index = 0; index < clients_.size(); ++index) {
    places.push_back(static_cast<RedisPlace>(index));
  }
  return places;
}

Result<void> RedisServers::meet(Deadline deadline) {
  if (clients_.size() == 1) return {};
  const Deadline end = earlier(deadline, Deadline::after(meet_time_max));
  std::optional<Error> rejected;
  coroutine::TaskGroup tasks;
  for (std::size_t index = 0; index < clients_.size(); ++index) {
    if (is_met_[index]) continue;
    auto spawned = tasks.spawn(
        "meet redis",
        [&, index] {
          constexpr std::array<std::string_view, 1> ping = {"PING"};
          const auto met = clients_[index]->call(ping, end);
          if (!met && is_lasting(met.error())) rejected = met.error();
        },
        meet_task);
    if (!spawned) return std::move(spawned.error());
  }
  if (auto joined = tasks.join(deadline); !joined) {
    tasks.cancel_and_join();
    return joined;
  }
  if (rejected) return *std::move(rejected);
  return {};
}

// --- Marks ------------------------------------------------------------------------------------

Result<void> RedisServers::admit(std::size_t index, const RedisClient::Ask& ask,
                                 Deadline deadline) {
  const auto mark = read_mark(ask);
  if (!mark) return mark.error();
  if (!*mark || !(*mark)->is_known) {
    if (auto founded = found(deadline); !founded) return founded;
  } else if (auto compared = compare(index, **mark); !compared) {
    return compared;
  }
  is_met_[index] = true;
  return {};
}

// The member of a cluster refuses keys that do not belong together, also when it has the mark's.
Result<std::optional<RedisServers::Mark>> RedisServers::read_mark(
    const RedisClient::Ask& ask) const {
  constexpr std::string_view script =
      "return redis.call('HMGET', KEYS[1], 'store', 'server', 'servers', 'id', 'known')";
  const std::string key = options_.key_prefix + "server";
  const std::string other = options_.key_prefix + "{0}";
  const std::string third = options_.key_prefix + "{1}";
  const std::array<std::string_view, 6> words = {"EVAL", script, "3", key, other, third};
  return Mark::read(ask(words));
}

Result<void> RedisServers::compare(std::size_t index, const Mark& mark) {
  if (mark.server != std::to_string(index + 1) || mark.servers != std::to_string(clients_.size())) {
    return Error(Code::failed_precondition, "it is server " + escaped(mark.server) + " of " +
                                                escaped(mark.servers) + ", and is configured as " +
                                                place_of(index) + std::string(advice));
  }
  if (store_.empty()) {
    store_ = mark.store;
    store_known_from_ = clients_[index]->name();
  }
  if (mark.store == store_) return {};
  return Error(Code::failed_precondition, "it belongs to the store " + escaped(mark.store) +
                                              ", and " + store_known_from_ + " to the store " +
                                              escaped(store_) + std::string(advice));
}

// Nodes may do this at the same time. The order makes their reads mean something: the first server
// is marked before all others, and lists a server that is marked. So a mark that is read as missing
// after what follows it was read has been lost.
Result<void> RedisServers::found(Deadline deadline) {
  // One that is away must be named before the calls that wait for this give up.
  RedisStore::Options options = options_;
  options.unreachable_after /= 2;
  Clients clients;
  for (const net::HostPort& endpoint : options_.endpoints) {
    clients.push_back(std::make_unique<RedisClient>(network_, options, endpoint));
  }
  const std::string list_key = options_.key_prefix + "servers";
  std::vector<std::string> numbers;
  std::vector<std::string_view> words = {"HMGET", list_key};
  for (std::size_t index = 0; index < clients.size(); ++index) {
    numbers.push_back(std::to_string(index + 1));
  }
  words.insert(words.end(), numbers.begin(), numbers.end());
  auto listed = checked(clients[0]->name(), clients[0]->call(words, deadline));
  if (!listed) return std::move(listed.error());
  if (listed->items.size() != clients.size()) {
    return Error(Code::data_loss, quote(list_key) + " holds other data; use another key prefix");
  }

  std::vector<std::optional<Mark>> marks(clients.size());
  std::string marked;  // A server other than the first one that has a mark.
  for (std::size_t index = clients.size(); index-- > 0;) {
    auto mark = read_mark([&](std::span<const std::string_view> command) {
      return clients[index]->call(command, deadline);
    });
    if (!mark) {
      return std::move(mark.error()).with_context("each server of a new store must answer once");
    }
    marks[index] = *std::move(mark);
    if (marks[index] && index > 0) marked = clients[index]->name();
  }
  if (!marks[0] && !marked.empty()) {
    return Error(Code::failed_precondition, clients[0]->name() + " has no mark, and " + marked +
                                                " has one" + std::string(loss_advice));
  }
  if (!marks[0] && clients.size() > 1) {
    if (auto unused = check_are_unused(clients, deadline); !unused) return unused;
  }
  std::string store = marks[0] ? marks[0]->store : new_id();
  for (std::size_t index = 0; index < clients.size(); ++index) {
    if (!marks[index] && listed->items[index].kind == Kind::text) {
      return Error(Code::failed_precondition, clients[index]->name() + " has no mark, and " +
                                                  place_of(index) + " had one" +
                                                  std::string(loss_advice));
    }
    auto written = mark(clients, index, store, deadline);
    if (!written) return std::move(written.error());
    store = written->store;
  }
  return {};
}

// A store of one server that was made before there were marks has none.
Result<void> RedisServers::check_are_unused(const Clients& clients, Deadline deadline) const {
  const std::string directory = options_.key_prefix + "directory";
  const std::string epoch = options_.key_prefix + "epoch";
  const std::array<std::string_view, 3> words = {"2", directory, epoch};
  for (const auto& client : clients) {
    const auto used = run_script(*client, used_script(), words, deadline);
    if (!used) return used.error();
    if (used->number == 0) continue;
    return Error(
        Code::failed_precondition,
        client->name() + " holds the objects of a store of one server" + std::string(advice));
  }
  return {};
}

Result<RedisServers::Mark> RedisServers::mark(const Clients& clients, std::size_t index,
                                              const std::string& store, Deadline deadline) {
  RedisClient& client = *clients[index];
  const std::string key = options_.key_prefix + "server";
  const std::string list_key = options_.key_prefix + "servers";
  const std::string number = std::to_string(index + 1);
  const std::string count = std::to_string(clients.size());
  const std::string id = new_id();
  const std::array<std::string_view, 6> mark_words = {"1", key, store, number, count, id};
  auto mark = Mark::read(run_script(client, mark_script(), mark_words, deadline));
  if (!mark) return std::move(mark.error());
  if (!*mark) return Error(Code::unavailable, client.name() + " keeps no mark");
  if (auto compared = compare(index, **mark); !compared) {
    return std::move(compared.error()).with_context(client.name());
  }
  const std::array<std::string_view, 4> list_words = {"1", list_key, number, (*mark)->id};
  const auto listed = run_script(*clients[0], list_script(), list_words, deadline);
  if (!listed) return listed.error();
  if (listed->text != (*mark)->id) {
    return Error(Code::failed_precondition, client.name() + " is not the " + place_of(index) +
                                                " that " + clients[0]->name() + " knows" +
                                                std::string(loss_advice));
  }
  const std::array<std::string_view, 4> known_words = {"HSET", key, "known", "1"};
  if (auto known = checked(client.name(), client.call(known_words, deadline)); !known) {
    return std::move(known.error());
  }
  return **std::move(mark);
}

}  // namespace corolane::framework::detail
