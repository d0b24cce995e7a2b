#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "coroutine/base/text.h"
#include "coroutine/task.h"
#include "framework/node/each_shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/object_types.h"
#include "net/http/percents.h"

namespace corolane::framework::detail {
namespace {

// A longer page would not be read, and building it would delay calls.
constexpr std::size_t object_rows_max = 1'000;
// Objects are visited in parts, and calls run between them.
constexpr std::size_t objects_per_part = 1'000;

struct ObjectRow {
  std::string id;
  bool is_active = false;
  Duration age{};
  std::size_t waiting_count = 0;
  std::size_t memory_bytes = 0;
  std::string running;  // The earliest call that has a turn.
  coroutine::TaskAddress task = {};
};

struct Objects {
  std::size_t count = 0;
  std::vector<ObjectRow> rows;
};

// The most waiting calls come first; among equals the smaller id.
bool is_listed_before(const ObjectRow& left, const ObjectRow& right) {
  if (left.waiting_count != right.waiting_count) return left.waiting_count > right.waiting_count;
  return left.id < right.id;
}

ObjectRow row_of(const ObjectCell& cell, const Shard& shard) {
  ObjectRow row{.id = cell.id(),
                .is_active = cell.is_active(),
                .memory_bytes = cell.size_bytes(),
                .running = {}};
  if (row.is_active) row.age = shard.scheduler().turn_time() - cell.active_since();
  for (const auto* visitor = cell.visitors(); visitor != nullptr; visitor = visitor->next()) {
    if (visitor->stage() == ObjectVisitor::Stage::waiting) ++row.waiting_count;
    if (visitor->stage() != ObjectVisitor::Stage::inside) continue;
    row.running = visitor->facts().what;
    row.task = {.scheduler = static_cast<std::uint32_t>(shard.index()), .id = visitor->task()};
  }
  return row;
}

// Keeps the first rows, in any order, at most twice as many as are shown.
void add(Objects& objects, ObjectRow row) {
  ++objects.count;
  objects.rows.push_back(std::move(row));
  if (objects.rows.size() < 2 * object_rows_max) return;
  std::ranges::nth_element(objects.rows, objects.rows.begin() + object_rows_max, is_listed_before);
  objects.rows.resize(object_rows_max);
}

// Objects come and go between the parts; none is visited twice.
Objects objects_of(const Shard& shard, std::string_view type) {
  Objects objects;
  const HostedType* const hosted =
      shard.host() == nullptr ? nullptr : shard.host()->find_type(type);
  if (hosted == nullptr) return objects;
  std::size_t looked_at = 0;
  for (std::size_t i = 0; i < partition_count; ++i) {
    const auto& cells = hosted->of_partition(static_cast<Partition>(i));
    for (const ObjectCell* const cell : cells) add(objects, row_of(*cell, shard));
    looked_at += cells.size();
    if (looked_at < objects_per_part) continue;
    looked_at = 0;
    if (!coroutine::yield()) break;
  }
  return objects;
}

Objects merged(std::vector<Objects> shards) {
  Objects all;
  for (Objects& shard : shards) {
    all.count += shard.count;
    std::ranges::move(shard.rows, std::back_inserter(all.rows));
  }
  std::ranges::sort(all.rows, is_listed_before);
  if (all.rows.size() > object_rows_max) all.rows.resize(object_rows_max);
  return all;
}

net::HttpResponse as_json(const std::string& type, const Objects& objects) {
  Json rows = Json::array();
  for (const ObjectRow& row : objects.rows) {
    rows.push_back({{"id", row.id},
                    {"waiting", row.waiting_count},
                    {"running", row.running},
                    {"task", row.task.id == 0 ? Json() : address_json(row.task)},
                    {"is_active", row.is_active},
                    {"seconds", in_seconds(row.age)},
                    {"memory_bytes", row.memory_bytes},
                    {"type", type}});
  }
  return json_response({{"type", type}, {"count", objects.count}, {"objects", std::move(rows)}});
}

net::HttpResponse as_text(const std::string& type, const Objects& objects) {
  std::vector<Row<6>> rows = {{"ID", "WAITING", "RUNS", "TASK", "ACTIVE FOR", "BYTES"}};
  for (const ObjectRow& row : objects.rows) {
    rows.push_back({escaped(row.id), std::to_string(row.waiting_count),
                    row.running.empty() ? "-" : escaped(row.running),
                    row.task.id == 0 ? "-" : to_string(row.task),
                    row.is_active ? seconds_text(row.age) : "not active",
                    std::to_string(row.memory_bytes)});
  }
  std::string text = table_text(rows) + std::to_string(objects.count) + " objects of " + type;
  if (objects.count > objects.rows.size()) {
    text += ", the " + std::to_string(objects.rows.size()) + " with the most calls waiting shown";
  }
  return {.body = text + "\n"};
}

}  // namespace

Result<net::HttpResponse> object_list_page(Node& node, const net::HttpRequest& request,
                                           std::string_view type) {
  std::string wanted;
  if (!net::read_percents(type, ' ', wanted)) {
    return bad_query(Error(Code::invalid_argument, "type is percent-encoded, with %25 for a %"));
  }
  const auto found = find_object_type(node, wanted);
  if (!found) {
    auto response = bad_query(found.error());
    if (found.error().code() == Code::not_found) response.status = 404;
    return response;
  }
  auto shards =
      from_each_shard(node, [&](const Shard& shard) { return objects_of(shard, *found); });
  if (!shards) return shards.error();
  const Objects objects = merged(*std::move(shards));
  return in_format(
      request, [&] { return as_json(*found, objects); }, [&] { return as_text(*found, objects); });
}

}  // namespace corolane::framework::detail
