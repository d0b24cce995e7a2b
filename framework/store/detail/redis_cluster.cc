// SPDX-License-Identifier: MIT
#include "framework/store/detail/redis_cluster.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/task.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using Kind = RedisReply::Kind;

// More than any change of the cluster causes; members that name one another would go on for ever.
constexpr int redirection_count_max = 16;
// The keys of a partition arrive in milliseconds.
constexpr std::chrono::milliseconds try_again_interval{20};
// A cluster has 1,000 members at most.
constexpr std::size_t member_count_max = 2'000;

bool is_answer(const Result<RedisReply>& reply, std::string_view word) {
  return reply && reply->kind == Kind::error && reply->text.starts_with(word);
}

// The command was not sent, and the member may be gone.
bool is_out_of_reach(const Result<RedisReply>& reply) {
  return !reply && reply.error().code() == Code::unavailable && !reply.error().maybe_executed();
}

// "MOVED 3999 127.0.0.1:6381"; an address of IPv6 has no brackets.
std::optional<net::HostPort> endpoint_in(std::string_view redirection) {
  const auto space = redirection.rfind(' ');
  const auto colon = redirection.rfind(':');
  if (space == redirection.npos || colon == redirection.npos || colon < space) return {};
  net::HostPort endpoint{.host = std::string(redirection.substr(space + 1, colon - space - 1))};
  const std::string_view port = redirection.substr(colon + 1);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (read.ec != std::errc() || read.ptr != port.data() + port.size()) return {};
  return endpoint;
}

}  // namespace

RedisCluster::RedisCluster(net::Network& network, RedisStore::Options options)
    : network_(network), options_(std::move(options)) {
  check(!options_.endpoints.empty(), "a cluster has a member");
  for (const net::HostPort& endpoint : options_.endpoints) {
    const RedisClient& client = member(endpoint);
    name_ += name_.empty() ? "redis cluster " : ", ";
    name_ += client.name().substr(std::string_view("redis ").size());
  }
}

RedisCluster::~RedisCluster() = default;

Result<RedisReply> RedisCluster::call(RedisPlace place, std::span<const std::string_view> words,
                                      Deadline deadline) {
  // A move that does not end is no reason to wait for as long as the caller would.
  const Deadline hope = earlier(deadline, Deadline::after(options_.unreachable_after));
  std::size_t unreached_count = 0;
  RedisClient* asked = nullptr;  // The member that takes this one command.
  for (int count = 0; count < redirection_count_max;) {
    RedisClient& client = asked != nullptr ? *asked : member_for(place);
    auto reply =
        asked != nullptr ? client.call_asking(words, deadline) : client.call(words, deadline);
    asked = nullptr;
    if (is_answer(reply, "TRYAGAIN")) {
      const Deadline next = Deadline::after(try_again_interval);
      if (hope.has_passed() || !coroutine::sleep_until(earlier(hope, next))) return reply;
    } else if (is_answer(reply, "CLUSTERDOWN")) {
      // It may be cut off from the others, which have a successor for it.
      places_[place] = nullptr;
      ++next_asked_;
      return reply;
    } else if (is_answer(reply, "MOVED ") || is_answer(reply, "ASK ")) {
      ++count;
      RedisClient* const named = named_in(reply->text, client);
      if (named == nullptr) return reply;
      if (is_answer(reply, "ASK ")) {
        asked = named;
      } else {
        places_[place] = named;
      }
    } else if (is_out_of_reach(reply)) {
      // Another member knows its successor, if there is one.
      if (places_[place] == &client) places_[place] = nullptr;
      if (++unreached_count > order_.size() || deadline.has_passed()) return reply;
      ++next_asked_;
    } else {
      if (reply && reply->kind != Kind::error) places_[place] = &client;
      return reply;
    }
  }
  return Error(Code::unavailable, name_ + ": its members redirect a command again and again");
}

RedisClient& RedisCluster::member_for(RedisPlace place) {
  if (places_[place] != nullptr) return *places_[place];
  return *order_[next_asked_ % order_.size()];
}

RedisClient& RedisCluster::member(const net::HostPort& endpoint) {
  const std::string key = endpoint.host + ":" + std::to_string(endpoint.port);
  auto& client = members_[key];
  if (client == nullptr) {
    client = std::make_unique<RedisClient>(
        network_, options_, endpoint,
        [this](const RedisClient::Ask& ask, Deadline) { return check_is_member(ask); });
    order_.push_back(client.get());
  }
  return *client;
}

// Only a member of a cluster refuses a script with the keys of two partitions.
Result<void> RedisCluster::check_is_member(const RedisClient::Ask& ask) const {
  const std::string first = options_.key_prefix + "{0}";
  const std::string second = options_.key_prefix + "{1}";
  const std::array<std::string_view, 5> words = {"EVAL", "return 1", "2", first, second};
  const auto reply = ask(words);
  if (!reply) return reply.error();
  if (is_answer(reply, "CROSSSLOT ")) return {};
  if (reply->kind == Kind::error) return redis_error(reply->text);
  return Error(Code::failed_precondition,
               "it is no member of a Redis Cluster: remove node.store.redis.cluster, or list the "
               "members of a cluster in node.store.redis.servers");
}

// A member without a host in a redirection is on the host of the one that answers.
RedisClient* RedisCluster::named_in(std::string_view redirection, const RedisClient& by) {
  auto endpoint = endpoint_in(redirection);
  if (!endpoint || order_.size() >= member_count_max) return nullptr;
  if (endpoint->host.empty()) endpoint->host = by.endpoint().host;
  return &member(*endpoint);
}

std::vector<RedisPlace> RedisCluster::one_of_each() const {
  std::vector<RedisPlace> places;
  std::vector<const RedisClient*> seen;
  for (RedisPlace place = 0; place < partition_place_count; ++place) {
    const RedisClient* const client = places_[place];
    if (client == nullptr || std::ranges::find(seen, client) != seen.end()) continue;
    seen.push_back(client);
    places.push_back(place);
  }
  if (places.empty()) places.push_back(0);
  return places;
}

const std::string& RedisCluster::name_of(RedisPlace place) const {
  return places_[place] != nullptr ? places_[place]->name() : name_;
}

}  // namespace corolane::framework::detail
