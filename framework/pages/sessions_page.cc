// SPDX-License-Identifier: MIT
// /sessions, /users/{id} and POST /kick: where the clients of users are, and how they fare.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/edge/user.h"
#include "framework/node/detail/cluster_waits.h"
#include "framework/node/each_shard.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "net/http/percents.h"
#include "rpc/server/server.h"
#include "rpc/session.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// A longer page would not be read, and building it would delay calls.
constexpr std::size_t session_rows_max = 1'000;

constexpr Duration user_time_max = 3s;

struct SessionRow {
  std::uint64_t number = 0;
  std::string user;
  std::string peer;
  std::size_t shard = 0;
  rpc::Session::Statistics statistics = {};
};

// What is not acknowledged comes first; among equals the oldest.
bool is_before(const SessionRow& left, const SessionRow& right) {
  if (left.statistics.ring_bytes != right.statistics.ring_bytes) {
    return left.statistics.ring_bytes > right.statistics.ring_bytes;
  }
  return left.statistics.begun_at < right.statistics.begun_at;
}

// The sessions of one shard whose user has that name, or all; as many as fit.
struct Sessions {
  void add(const rpc::Session& session, std::size_t shard) {
    ++count;
    SessionRow row{.number = session.number(),
                   .user = {},
                   .peer = {},
                   .shard = shard,
                   .statistics = session.statistics()};
    const bool is_full = rows.size() == session_rows_max;
    if (is_full && !is_before(row, rows.front())) return;
    row.user = session.principal().id;
    row.peer = session.peer();
    if (is_full) {
      std::ranges::pop_heap(rows, is_before);
      rows.pop_back();
    }
    rows.push_back(std::move(row));
    std::ranges::push_heap(rows, is_before);
  }

  std::size_t count = 0;
  std::vector<SessionRow> rows = {};  // A heap: the last one is first.
};

double per_second(std::uint64_t count, Duration age) {
  const double seconds = std::max(in_seconds(age), 1.0);
  return rounded(static_cast<double>(count) / seconds, 100);
}

Json sessions_json(const Sessions& sessions, TimePoint time) {
  Json rows = Json::array();
  for (const SessionRow& row : sessions.rows) {
    const rpc::Session::Statistics& statistics = row.statistics;
    const Duration age = time - statistics.begun_at;
    rows.push_back({{"session", std::to_string(row.number)},
                    {"user", row.user},
                    {"peer", row.peer.empty() ? Json() : Json(row.peer)},
                    {"shard", row.shard},
                    {"age_seconds", in_seconds(age)},
                    {"resumed", statistics.resumed_count},
                    {"ring_count", statistics.ring_count},
                    {"ring_bytes", statistics.ring_bytes},
                    {"pushed", statistics.pushed_count},
                    {"lost", statistics.lost_count},
                    {"groups", statistics.group_count},
                    {"calls", statistics.call_count},
                    {"calls_per_second", per_second(statistics.call_count, age)}});
  }
  return {{"count", sessions.count}, {"sessions", std::move(rows)}};
}

std::string peer_cell(const Json& row) {
  return row.at("peer").is_null() ? "away" : cell_text(row.at("peer"));
}

std::string sessions_text(const Json& page) {
  return table_text(page.at("sessions"),
                    "SESSION: session, USER: user, PEER: peer, SHARD: shard, AGE: age_seconds, "
                    "RESUMED: resumed, RING: ring_count, RING BYTES: ring_bytes, PUSHED: pushed, "
                    "LOST: lost, GROUPS: groups, CALLS: calls, CALLS/S: calls_per_second",
                    {{"peer", peer_cell}}) +
         total_text(page, "sessions", "with the most to acknowledge");
}

// Runs `work(shard)`, which suspends, on the first shard. Fails with unavailable when that hangs,
// and as `work`.
template <typename F>
Result<void> on_first_shard(Node& node, F work) {
  auto shards = from_each_shard(node, [work](Shard& shard) -> Result<void> {
    return shard.index() == 0 ? work(shard) : Result<void>();
  });
  if (!shards) return shards.error();
  if (shards->numbers.empty() || shards->numbers.front() != 0) {
    return Error(Code::unavailable, "shard 0 of this node has not turned for a while");
  }
  return shards->parts.front();
}

// `chess.Game("g1")`.
Json follows_json(const User::Device& device) {
  Json follows = Json::array();
  for (const User::Followed& followed : device.follows) {
    follows.push_back(object_name(followed.type, followed.id));
  }
  return follows;
}

Json calls_json(const User::Device& device) {
  Json calls = Json::array();
  for (const User::RunningCall& call : device.calls) {
    calls.push_back({{"method", call.method},
                     {"object", call.object.empty() ? Json() : Json(call.object)},
                     {"seconds", in_seconds(call.age)},
                     {"waits_for", call.waits_for.empty() ? Json() : Json(call.waits_for)}});
  }
  return calls;
}

Json presence_json(const std::string& user, const User::Presence& presence) {
  Json devices = Json::array();
  for (const User::Device& device : presence.devices) {
    devices.push_back({{"session", std::to_string(device.session)},
                       {"is_connected", device.is_connected},
                       {"peer", device.peer.empty() ? Json() : Json(device.peer)},
                       {"age_seconds", in_seconds(device.age)},
                       {"ring_count", device.ring_count},
                       {"pushed", device.pushed_count},
                       {"lost", device.lost_count},
                       {"groups", device.group_count},
                       {"follows", follows_json(device)},
                       {"calls", calls_json(device)}});
  }
  const bool was_seen = presence.seen != 0ms;
  return {
      {"user", user},
      {"is_connected", presence.is_connected()},
      {"seen", was_seen ? Json(utc_text(std::chrono::sys_time<Duration>(presence.seen))) : Json()},
      {"kept", presence.kept_count},
      {"unreachable", presence.unreachable_count},
      {"count", presence.devices.size()},
      {"sessions", std::move(devices)}};
}

// What the sessions follow, and the calls of their clients.
std::string details_text(const Json& sessions) {
  std::string text;
  for (const Json& session : sessions.elements()) {
    const std::string of = " of session " + cell_text(session.at("session"));
    const Json& follows = session.at("follows");
    if (!follows.elements().empty()) {
      text += "\nfollows" + of + ":\n";
      for (const Json& object : follows.elements()) text += "  " + cell_text(object) + "\n";
    }
    const Json& calls = session.at("calls");
    if (calls.elements().empty()) continue;
    text +=
        "\ncalls" + of + ":\n" +
        table_text(calls, "METHOD: method, OBJECT: object, SECONDS: seconds, WAITS FOR: waits_for");
  }
  return text;
}

std::string presence_text(const Json& page) {
  const std::string user = cell_text(page.at("user"));
  if (page.at("seen").is_null()) return user + " was never here\n";
  return user + (page.at("is_connected").is_true() ? " is connected" : " is away") +
         ", last seen " + cell_text(page.at("seen")) + ", " +
         count_text(page.at("kept"), "push is kept", "pushes are kept") +
         (page.at("unreachable").number() == 0
              ? ""
              : ", " + count_text(page.at("unreachable"), "session is", "sessions are") +
                    " on nodes that do not answer") +
         "\n" +
         table_text(page.at("sessions"),
                    "SESSION: session, PEER: peer, AGE: age_seconds, RING: ring_count, PUSHED: "
                    "pushed, LOST: lost, GROUPS: groups",
                    {{"peer", peer_cell}}) +
         total_text(page, "sessions", "oldest") + details_text(page.at("sessions"));
}

std::string kick_text(const Json& page) { return cell_text(page.at("user")) + " was sent away\n"; }

// The user of `?user=`, or of a path. Fails with invalid_argument.
Result<std::string> user_of(std::string_view text, char for_plus = ' ') {
  std::string user;
  if (net::read_percents(text, for_plus, user)) return user;
  return Error(Code::invalid_argument, "user is percent-encoded, with %25 for a %");
}

}  // namespace

Result<net::HttpResponse> sessions_page(Node& node, const net::HttpRequest& request) {
  auto user = user_of(request.query("user"));
  if (!user) return bad_query(user.error());
  auto shards = from_each_shard(node, [user = *user](const Shard& shard) {
    Sessions sessions;
    shard.rpc_server().for_each_session([&](const rpc::Session& session) {
      if (user.empty() || session.principal().id == user) sessions.add(session, shard.index());
    });
    return sessions;
  });
  if (!shards) return shards.error();
  Sessions all = added_up(std::move(shards->parts), [](Sessions& sum, const Sessions& part) {
    sum.count += part.count;
    std::ranges::copy(part.rows, std::back_inserter(sum.rows));
  });
  std::ranges::sort(all.rows, is_before);
  if (all.rows.size() > session_rows_max) all.rows.resize(session_rows_max);
  Json page = sessions_json(all, now());
  name_silent_shards(page, node, shards->silent);
  return in_format(request, page, sessions_text);
}

Result<net::HttpResponse> user_page(Node& node, const net::HttpRequest& request) {
  auto user = user_of(request.path().substr(std::string_view("/users/").size()), '+');
  if (!user) return bad_query(user.error());
  const auto presence = std::make_shared<User::Presence>();
  auto asked = on_first_shard(node, [presence, user = *user](Shard& shard) -> Result<void> {
    auto found = User(shard.router(), user).presence({.deadline = Deadline::after(user_time_max)});
    if (!found) return found.error();
    *presence = *std::move(found);
    return {};
  });
  if (!asked) return asked.error();
  return in_format(request, presence_json(*user, *presence), presence_text);
}

Result<net::HttpResponse> kick_user(Node& node, const net::HttpRequest& request) {
  if (!format_of(request)) return unknown_format(request);
  auto user = user_of(request.query("user"));
  std::string reason;
  if (!user || user->empty() || !net::read_percents(request.query("reason"), ' ', reason)) {
    return bad_query(Error(Code::invalid_argument,
                           "say which user, as in POST /kick?user=ann&reason=no+cheating"));
  }
  if (reason.empty()) reason = "an operator has ended this session";
  auto kicked = on_first_shard(node, [user = *user, reason](Shard& shard) {
    return User(shard.router(), user)
        .kick(Error(Code::permission_denied, reason), {.deadline = Deadline::after(user_time_max)});
  });
  if (!kicked) return kicked.error();
  node.log().always("asked to send a user away", {{"user", *user}, {"reason", reason}});
  return in_format(request, {{"user", *user}, {"reason", reason}}, kick_text);
}

}  // namespace corolane::framework::detail
