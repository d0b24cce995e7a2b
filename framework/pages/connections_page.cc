// SPDX-License-Identifier: MIT
// /connections: the node's connections, incoming and outgoing.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "framework/admin/admin.h"
#include "framework/cluster/cluster.h"
#include "framework/node/each_shard.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "framework/routing/detail/object_router.h"
#include "net/http/http_server.h"
#include "net/http/percents.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"

namespace corolane::framework::detail {
namespace {

// A longer page would not be read, and building it would delay calls.
constexpr std::size_t connection_rows_max = 1'000;

struct Connection {
  std::string_view side;  // "client", "node", "http", "admin"; "to node" is outgoing.
  std::string peer;
  std::string local;
  std::string identity;                   // From its certificate, or the name of the node.
  std::optional<std::size_t> shard = {};  // None: that of the node.
  bool is_open = true;
  std::size_t running_count = 0;
  std::uint64_t answered_count = 0;
  net::StreamStatistics statistics = {};

  bool is_above_mark() const { return statistics.unsent_bytes > statistics.output_bytes_max; }
  // Its requests wait until the peer takes its replies.
  bool is_held_back() const {
    return statistics.unsent_bytes > 0 && statistics.reading_since == TimePoint::max();
  }
};

// The longest output comes first; among equals the oldest.
bool is_before(const Connection& left, const Connection& right) {
  if (left.statistics.unsent_bytes != right.statistics.unsent_bytes) {
    return left.statistics.unsent_bytes > right.statistics.unsent_bytes;
  }
  return left.statistics.opened_at < right.statistics.opened_at;
}

// The requested connections of one shard, as many as fit, in the order of is_before().
class Connections {
 public:
  Connections() = default;
  Connections(std::optional<std::size_t> shard, std::string_view peer)
      : shard_(shard), peer_(peer) {}

  void add(std::string_view side, const net::Stream& stream, Connection connection) {
    connection.peer = to_string(stream.peer_endpoint());
    if (!connection.peer.contains(peer_)) return;
    ++count_;
    connection.side = side;
    connection.shard = shard_;
    connection.statistics = stream.statistics();
    if (rows_.size() == connection_rows_max && !is_before(connection, rows_.front())) return;
    connection.local = to_string(stream.local_endpoint());
    if (connection.identity.empty()) connection.identity = stream.peer_identity();
    if (rows_.size() == connection_rows_max) {
      std::ranges::pop_heap(rows_, is_before);
      rows_.pop_back();
    }
    rows_.push_back(std::move(connection));
    std::ranges::push_heap(rows_, is_before);
  }
  void add(const Connections& more) {
    count_ += more.count_;
    std::ranges::copy(more.rows_, std::back_inserter(rows_));
  }
  void arrange() {
    std::ranges::sort(rows_, is_before);
    if (rows_.size() > connection_rows_max) rows_.resize(connection_rows_max);
  }

  std::size_t count() const { return count_; }
  const std::vector<Connection>& rows() const { return rows_; }

 private:
  std::optional<std::size_t> shard_;
  std::string peer_;
  std::size_t count_ = 0;
  std::vector<Connection> rows_;  // A heap until arrange(): the last one is first.
};

bool is_same_door(const net::Endpoint& local, const net::Endpoint& door) {
  return is_unix(door) ? local.address == door.address : local.port == door.port;
}

void add_servers(const Node& node, const Shard& shard, Connections& connections) {
  const auto& doors = node.endpoints().cluster;
  shard.rpc_server().for_each_connection([&](const rpc::ConnectionView& view) {
    const bool is_node = shard.index() < doors.size() &&
                         is_same_door(view.stream.local_endpoint(), doors[shard.index()]);
    connections.add(is_node ? "node" : "client", view.stream,
                    {.side = {},
                     .peer = {},
                     .local = {},
                     .identity = {},
                     .is_open = view.is_open,
                     .running_count = view.running_count,
                     .answered_count = view.answered_count});
  });
}

std::string name_of(const ClusterView* view, std::uint64_t epoch) {
  const Member* const member = view == nullptr ? nullptr : view->find_member(epoch);
  return member == nullptr ? std::string() : member->name;
}

void add_clients(const ClusterView* cluster, const Shard& shard, Connections& connections) {
  const auto& clients = shard.object_router().node_clients();
  clients.for_each([&](std::uint64_t epoch, std::size_t, const rpc::Client& client) {
    client.see_connection([&](const rpc::ConnectionView& view) {
      connections.add("to node", view.stream,
                      {.side = {},
                       .peer = {},
                       .local = {},
                       .identity = name_of(cluster, epoch),
                       .is_open = view.is_open,
                       .running_count = view.running_count,
                       .answered_count = view.answered_count});
    });
  });
}

auto see_http(std::string_view side, Connections& connections) {
  return [&connections, side](const net::HttpServer::ConnectionView& view) {
    connections.add(side, view.stream,
                    {.side = {},
                     .peer = {},
                     .local = {},
                     .identity = {},
                     .running_count = view.is_serving ? 1U : 0U,
                     .answered_count = view.answered_count});
  };
}

void add_http(const Shard& shard, Connections& connections) {
  if (shard.http_server() == nullptr) return;
  shard.http_server()->for_each_connection(see_http("http", connections));
}

// They are served by the thread of the node.
Connections admin_connections(const Node& node, std::string_view peer) {
  Connections connections(std::nullopt, peer);
  node.admin().for_each_connection(see_http("admin", connections));
  return connections;
}

Json connections_json(const Connections& connections, TimePoint time) {
  Json rows = Json::array();
  for (const Connection& connection : connections.rows()) {
    const net::StreamStatistics& statistics = connection.statistics;
    rows.push_back({{"side", connection.side},
                    {"peer", connection.peer},
                    {"local", connection.local},
                    {"identity", connection.identity},
                    {"tls", statistics.is_encrypted},
                    {"shard", connection.shard ? Json(*connection.shard) : Json()},
                    {"is_open", connection.is_open},
                    {"age_seconds", in_seconds(time - statistics.opened_at)},
                    {"silent_seconds", in_seconds(time - statistics.heard_at)},
                    {"running", connection.running_count},
                    {"answered", connection.answered_count},
                    {"received_bytes", statistics.received_bytes},
                    {"written_bytes", statistics.written_bytes},
                    {"unsent_bytes", statistics.unsent_bytes},
                    {"is_above_mark", connection.is_above_mark()},
                    {"is_held_back", connection.is_held_back()}});
  }
  return {{"count", connections.count()}, {"connections", std::move(rows)}};
}

std::string side_cell(const Json& row) {
  return cell_text(row.at("side")) + (row.at("is_open").is_true() ? "" : ", not open");
}

std::string unsent_cell(const Json& row) {
  return cell_text(row.at("unsent_bytes")) +
         (row.at("is_above_mark").is_true() ? ", above its mark" : "") +
         (row.at("is_held_back").is_true() ? ", not read meanwhile" : "");
}

std::string connections_text(const Json& page) {
  return table_text(page.at("connections"),
                    "SIDE: side, PEER: peer, LOCAL: local, IDENTITY: identity, TLS: tls, "
                    "SHARD: shard, AGE: age_seconds, SILENT: silent_seconds, RUNNING: running, "
                    "ANSWERED: answered, IN: received_bytes, OUT: written_bytes, "
                    "UNSENT: unsent_bytes",
                    {{"side", side_cell}, {"unsent_bytes", unsent_cell}}) +
         total_text(page, "connections", "with the most unsent");
}

}  // namespace

Result<net::HttpResponse> connections_page(Node& node, const net::HttpRequest& request) {
  std::string peer;
  if (!net::read_percents(request.query("peer"), ' ', peer)) {
    return bad_query(Error(Code::invalid_argument, "peer is percent-encoded, with %25 for a %"));
  }
  const auto view = node.cluster() == nullptr ? nullptr : node.cluster()->view();
  auto shards = from_each_shard(node, [&node, peer, view](const Shard& shard) {
    Connections connections(shard.index(), peer);
    add_servers(node, shard, connections);
    add_clients(view.get(), shard, connections);
    add_http(shard, connections);
    return connections;
  });
  if (!shards) return shards.error();
  shards->parts.push_back(admin_connections(node, peer));
  Connections all = added_up(std::move(shards->parts),
                             [](Connections& sum, const Connections& more) { sum.add(more); });
  all.arrange();
  Json page = connections_json(all, now());
  name_silent_shards(page, node, shards->silent);
  return in_format(request, page, connections_text);
}

}  // namespace corolane::framework::detail
