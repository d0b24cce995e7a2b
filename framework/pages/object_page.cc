// /objects/{type}/{id}: one object, its owner and its calls.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/text.h"
#include "coroutine/task.h"
#include "coroutine/task_info.h"
#include "framework/cluster/cluster.h"
#include "framework/node/shard.h"
#include "framework/objects/detail/object_history.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/detail/object_visitor.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/pages.h"
#include "framework/time/wall_clock.h"
#include "net/http/percents.h"

namespace corolane::framework::detail {
namespace {

using Stage = ObjectVisitor::Stage;
using Frames = std::vector<coroutine::SourceFrame>;

// --- What the object's shard knows

// A copy: the page is built on another thread, and later.
struct ObjectReport {
  // Longer lists would not be read.
  static constexpr std::size_t waiting_count_max = 100;
  static constexpr std::size_t running_count_max = 16;
  // Finding a task among very many takes time.
  static constexpr std::size_t task_count_max = 4;

  struct Visitor {
    std::string what;
    ObjectVisitor::Stage stage;
    coroutine::TaskAddress task;
    Duration in_stage;
    Duration age;
    std::optional<Duration> time_left;
    std::string peer;
    std::vector<std::string> callers;  // The outermost first.
    std::optional<coroutine::TaskInfo> info = {};
  };
  struct Active {
    Duration age;
    std::size_t memory_bytes;
    std::size_t state_bytes;
    std::uint64_t version;
    std::optional<Duration> unsaved;  // Since the oldest change that is not stored.
    bool hides_change;                // Withheld from callers until it is stored.
    std::size_t timer_count;
    std::size_t reminder_count;
    std::optional<WallTime> wake_at;
    std::size_t reader_count;
    std::size_t followed_count;
  };

  bool is_hosted = false;
  std::uint64_t epoch = 0;  // The epoch of this node's ownership; 0: none.
  bool is_on_the_move = false;
  bool has_cell = false;
  std::optional<Active> active;
  std::optional<Duration> idle;  // Since the last call left.
  std::vector<Visitor> running;  // Or waiting without a turn; the earliest comes first.
  std::vector<Visitor> waiting;
  std::size_t running_count = 0;
  std::size_t waiting_count = 0;
  std::vector<ObjectHistory::Call> calls;
  std::vector<ObjectHistory::Failure> errors;
  std::optional<ObjectHistory::Failure> failed_save;
  TimePoint time{};  // The time of the report.
};

using Visitor = ObjectReport::Visitor;

std::vector<std::string> names_of(const CallChain::Link* link) {
  std::vector<std::string> names;
  for (const rpc::ObjectCall& call : calls_of(link)) {
    names.push_back(std::string(call.method) + "(\"" + std::string(call.id) + "\")");
  }
  return names;
}

ObjectReport::Visitor visitor_of(const ObjectVisitor& visitor, const Shard& shard, TimePoint time) {
  const ObjectVisitor::Facts& facts = visitor.facts();
  return {.what = std::string(facts.what),
          .stage = visitor.stage(),
          .task = {.scheduler = static_cast<std::uint32_t>(shard.index()), .id = visitor.task()},
          .in_stage = time - visitor.since(),
          .age = time - facts.arrived_at,
          .time_left =
              facts.deadline.is_never() ? std::nullopt : std::optional(facts.deadline.remaining()),
          .peer = std::string(facts.peer),
          .callers = names_of(facts.callers.get())};
}

// There are at most as many as a mailbox holds.
void add_visitors(ObjectReport& report, const ObjectCell& cell, const Shard& shard) {
  std::vector<const ObjectVisitor*> all;
  for (const auto* visitor = cell.visitors(); visitor != nullptr; visitor = visitor->next()) {
    if (visitor->stage() != Stage::leaving) all.push_back(visitor);
  }
  std::ranges::reverse(all);
  for (const ObjectVisitor* const visitor : all) {
    const bool waits = visitor->stage() == Stage::waiting;
    ++(waits ? report.waiting_count : report.running_count);
    auto& shown = waits ? report.waiting : report.running;
    const auto count_max =
        waits ? ObjectReport::waiting_count_max : ObjectReport::running_count_max;
    if (shown.size() < count_max) shown.push_back(visitor_of(*visitor, shard, report.time));
  }
}

ObjectReport::Active active_of(const ObjectCell& cell, TimePoint time) {
  const ObjectAlarms* const alarms = cell.known_alarms();
  return {.age = time - cell.active_since(),
          .memory_bytes = cell.size_bytes(),
          .state_bytes = cell.state_bytes(),
          .version = cell.version(),
          .unsaved = cell.is_changed() ? std::optional(time - cell.changed_since()) : std::nullopt,
          .hides_change = cell.hides_change(),
          .timer_count = alarms == nullptr ? 0 : alarms->timers.size(),
          .reminder_count = alarms == nullptr ? 0 : alarms->reminders.size(),
          .wake_at = alarms == nullptr ? std::nullopt : alarms->reminders.wake_at(),
          .reader_count = cell.reader_count(),
          .followed_count = cell.followed_count()};
}

void add_cell(ObjectReport& report, const ObjectCell& cell, const Shard& shard) {
  report.has_cell = true;
  if (cell.is_active()) report.active = active_of(cell, report.time);
  if (cell.is_idle() && cell.is_active()) report.idle = report.time - cell.used_at;
  add_visitors(report, cell, shard);
  report.calls = cell.history().calls(report.time);
  report.errors = cell.history().errors();
  report.failed_save = cell.history().failed_save();
}

// Runs on the shard that has the objects of that partition. Suspends.
ObjectReport report_of(const Shard& shard, std::string_view type, const std::string& id) {
  ObjectReport report;
  report.time = shard.scheduler().turn_time();
  const HostedType* const hosted =
      shard.host() == nullptr ? nullptr : shard.host()->find_type(type);
  if (hosted == nullptr) return report;
  const Partition partition = hosted->partition_of(id);
  report.is_hosted = true;
  report.epoch = hosted->ownership().epoch(partition);
  report.is_on_the_move = shard.host()->is_on_the_move(*hosted, partition);
  if (const ObjectCell* const cell = hosted->find(id)) add_cell(report, *cell, shard);
  for (std::size_t i = 0; i < std::min(report.running.size(), ObjectReport::task_count_max); ++i) {
    ObjectReport::Visitor& visitor = report.running[i];
    visitor.info = shard.scheduler().task(visitor.task.id);
    static_cast<void>(coroutine::yield());  // A cancelled caller continues at once.
  }
  return report;
}

// --- What the node knows

// The requested object, and all that is known of it.
struct Found {
  std::string type;
  std::string id;
  Partition partition = 0;
  std::size_t shard = 0;
  const Member* owner = nullptr;  // From the cluster's view; null: no owner.
  std::uint64_t owner_epoch = 0;
  bool is_here = false;
  std::shared_ptr<const ClusterView> view = nullptr;
  ObjectReport report;
  std::vector<Frames> stacks;  // For the running calls.
};

struct Name {
  std::string type;
  std::string id;
};

// "/objects/Player/J%C3%BCrgen".
Result<Name> name_of(const Node& node, std::string_view path) {
  const std::string_view text = path.substr(std::string_view("/objects/").size());
  const std::size_t slash = text.find('/');
  Name name;
  std::string type;
  if (!net::read_percents(text.substr(0, slash), '+', type) ||
      !net::read_percents(text.substr(slash + 1), '+', name.id)) {
    return Error(Code::invalid_argument, "type and id are percent-encoded, with %25 for a %");
  }
  auto found = find_object_type(node, type);
  if (!found) return found.error();
  name.type = *std::move(found);
  return name;
}

void find_owner(const Node& node, Found& found) {
  if (node.cluster() == nullptr) return;
  found.view = node.cluster()->view();
  const auto* const group = found.view->find_group(found.type);
  if (group == nullptr) return;
  found.owner = group->owners[found.partition].member;
  found.owner_epoch = group->owners[found.partition].epoch;
}

Result<Found> look(Node& node, Name name) {
  Found found{.type = std::move(name.type), .id = std::move(name.id), .report = {}, .stacks = {}};
  found.partition = PartitionHash(found.type)(found.id);
  found.shard = found.partition % node.shard_count();
  auto looked = node.on_each_shard([&](const Shard& shard) -> Result<void> {
    if (shard.index() == found.shard) found.report = report_of(shard, found.type, found.id);
    return {};
  });
  if (!looked) return looked.error();
  find_owner(node, found);
  found.is_here = found.report.epoch != 0;
  node.run_with_symbols([&](coroutine::Symbols& symbols) {
    for (const Visitor& visitor : found.report.running) {
      found.stacks.push_back(visitor.info ? symbols.frames(visitor.info->trace) : Frames());
    }
  });
  return found;
}

std::string count_text(std::size_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string waits_for(const Visitor& visitor) {
  if (visitor.stage == ObjectVisitor::Stage::outside) return "an event, without a turn";
  if (!visitor.info) return "-";
  return visitor.info->waiting_for.empty() ? std::string(to_string(visitor.info->state))
                                           : visitor.info->waiting_for;
}

std::string caller_of(const Visitor& visitor) {
  std::string text = visitor.peer.empty() ? "" : "from " + visitor.peer;
  for (const std::string& caller : visitor.callers) {
    text.append(text.empty() ? "" : " > ").append(caller);
  }
  return text.empty() ? "this node" : escaped(text);
}

// Says in one sentence what an operator would conclude from the rest.
std::string verdict_of(const Found& found) {
  const ObjectReport& report = found.report;
  if (!found.is_here && found.owner != nullptr) {
    return "node " + escaped(found.owner->name) + " owns it: ask there";
  }
  if (!found.is_here) return "no node owns it now: calls wait until one does";
  if (report.is_on_the_move) return "it is moving to another node: calls wait until it has moved";
  std::string text;
  if (!report.running.empty()) {
    const Visitor& first = report.running.front();
    text = escaped(first.what) + (report.active ? " runs for " : " activates it for ") +
           seconds_text(first.in_stage) + ", waits for " + waits_for(first);
  } else if (!report.active) {
    text = "not active: the next call loads it";
  } else if (report.idle) {
    text = "idle for " + seconds_text(*report.idle);
  } else {
    text = "active";
  }
  if (report.waiting_count > 0) {
    text += "; " + count_text(report.waiting_count, "waits", "wait") + " for a turn";
  }
  if (report.active && report.active->hides_change) {
    text += "; a change is withheld until it is stored, and storing it has failed";
  }
  return text;
}

// --- JSON

Json seconds_or_null(const std::optional<Duration>& duration) {
  return duration ? Json(in_seconds(*duration)) : Json();
}

Json visitor_json(const Visitor& visitor) {
  return {{"method", visitor.what},
          {"task", visitor.task.id == 0 ? Json() : address_json(visitor.task)},
          {"seconds", in_seconds(visitor.in_stage)},
          {"age_seconds", in_seconds(visitor.age)},
          {"deadline_seconds", seconds_or_null(visitor.time_left)},
          {"peer", visitor.peer},
          {"callers", visitor.callers}};
}

Json running_json(const Visitor& visitor, const Frames& stack) {
  Json json = visitor_json(visitor);
  json["waiting_for"] = waits_for(visitor);
  json["stack"] = frames_json(stack);
  return json;
}

Json failure_json(const ObjectHistory::Failure& failure, TimePoint time) {
  return {{"method", failure.method},
          {"code", to_string(failure.error.code())},
          {"error", failure.error.message()},
          {"seconds_ago", in_seconds(time - failure.at)}};
}

Json active_json(const ObjectReport& report) {
  if (!report.active) return {};
  const ObjectReport::Active& active = *report.active;
  const auto& save = report.failed_save;
  return {{"seconds", in_seconds(active.age)},
          {"idle_seconds", seconds_or_null(report.idle)},
          {"memory_bytes", active.memory_bytes},
          {"state_bytes", active.state_bytes},
          {"version", active.version},
          {"unsaved_seconds", seconds_or_null(active.unsaved)},
          {"last_save_error", save ? Json(save->error.to_string()) : Json()},
          {"last_save_error_seconds_ago", save ? Json(in_seconds(report.time - save->at)) : Json()},
          {"timers", active.timer_count},
          {"reminders", active.reminder_count},
          {"next_reminder_at", active.wake_at ? Json(utc_text(*active.wake_at)) : Json()},
          {"subscribed_shards", active.reader_count},
          {"follows", active.followed_count}};
}

net::HttpResponse as_json(const Node& node, const Found& found) {
  const ObjectReport& report = found.report;
  Json running = Json::array();
  for (std::size_t i = 0; i < report.running.size(); ++i) {
    running.push_back(running_json(report.running[i], found.stacks[i]));
  }
  Json waiting = Json::array();
  for (const Visitor& visitor : report.waiting) waiting.push_back(visitor_json(visitor));
  Json calls = Json::array();
  for (const auto& call : report.calls) {
    calls.push_back({{"method", call.method},
                     {"outcome", call.error ? to_string(*call.error) : "ok"},
                     {"seconds_ago", in_seconds(call.ago)},
                     {"took_seconds", in_seconds(call.took)}});
  }
  Json errors = Json::array();
  for (const auto& failure : report.errors) errors.push_back(failure_json(failure, report.time));
  const std::string owner = found.is_here            ? node.config().name
                            : found.owner == nullptr ? std::string()
                                                     : found.owner->name;
  return json_response(
      {{"type", found.type},
       {"id", found.id},
       {"verdict", verdict_of(found)},
       {"owner",
        {{"is_here", found.is_here},
         {"node", owner.empty() ? Json() : Json(owner)},
         {"node_epoch", found.owner == nullptr ? Json() : Json(found.owner->epoch)},
         {"partition", found.partition},
         {"partition_epoch", found.is_here ? report.epoch : found.owner_epoch},
         {"shard", found.is_here ? Json(found.shard) : Json()},
         {"is_on_the_move", report.is_on_the_move}}},
       {"is_active", report.active.has_value()},
       {"active", active_json(report)},
       {"running_count", report.running_count},
       {"running", std::move(running)},
       {"waiting_count", report.waiting_count},
       {"waiting", std::move(waiting)},
       {"last_calls", std::move(calls)},
       {"last_errors", std::move(errors)}});
}

// --- Text

std::string owner_text(const Node& node, const Found& found) {
  const std::string partition = "partition " + std::to_string(found.partition) + ", epoch ";
  if (found.is_here) {
    return "this node (" + escaped(node.config().name) + "), shard " + std::to_string(found.shard) +
           ", " + partition + std::to_string(found.report.epoch);
  }
  if (found.owner == nullptr) return "no node; " + partition + std::to_string(found.owner_epoch);
  return "node " + escaped(found.owner->name) + ", epoch " + std::to_string(found.owner->epoch) +
         "; " + partition + std::to_string(found.owner_epoch);
}

void add_active_rows(const ObjectReport& report, std::vector<Row<2>>& rows) {
  const ObjectReport::Active& active = *report.active;
  rows.push_back({"active", "for " + seconds_text(active.age)});
  rows.push_back({"state", count_text(active.state_bytes, "byte", "bytes") + ", version " +
                               std::to_string(active.version) + "; about " +
                               std::to_string(active.memory_bytes) + " bytes of memory"});
  rows.push_back({"unsaved", active.unsaved ? "for " + seconds_text(*active.unsaved) : "nothing"});
  if (report.failed_save) {
    rows.push_back({"save failed", seconds_text(report.time - report.failed_save->at) +
                                       " ago: " + escaped(report.failed_save->error.to_string())});
  }
  std::string alarms = count_text(active.timer_count, "timer", "timers") + ", " +
                       count_text(active.reminder_count, "reminder", "reminders");
  if (active.wake_at) alarms += ", the next at " + utc_text(*active.wake_at);
  rows.push_back({"alarms", std::move(alarms)});
  rows.push_back({"follows", count_text(active.followed_count, "object", "objects") +
                                 "; followed by " +
                                 count_text(active.reader_count, "shard", "shards")});
}

std::string visitors_text(const std::vector<Visitor>& visitors, std::size_t count,
                          std::string_view title) {
  if (visitors.empty()) return "";
  std::vector<Row<6>> rows = {
      {std::string(title), "TASK", "SINCE", "TIME LEFT", "WAITS FOR", "CALLER"}};
  for (const Visitor& visitor : visitors) {
    const bool waits = visitor.stage == ObjectVisitor::Stage::waiting;
    rows.push_back({escaped(visitor.what), visitor.task.id == 0 ? "-" : to_string(visitor.task),
                    seconds_text(visitor.in_stage),
                    visitor.time_left ? seconds_text(*visitor.time_left) : "-",
                    waits ? "its turn" : waits_for(visitor), caller_of(visitor)});
  }
  std::string text = "\n" + table_text(rows);
  if (count > visitors.size()) {
    text += std::to_string(count) + " in all, the first " + std::to_string(visitors.size()) +
            " shown\n";
  }
  return text;
}

std::string stacks_text(const Found& found) {
  std::string text;
  for (std::size_t i = 0; i < found.stacks.size(); ++i) {
    if (found.stacks[i].empty()) continue;
    const Visitor& visitor = found.report.running[i];
    text += "\ntask " + to_string(visitor.task) + ", " + escaped(visitor.what) + "\n" +
            coroutine::to_text(found.stacks[i]);
  }
  return text;
}

std::string history_text(const ObjectReport& report) {
  if (report.calls.empty()) return "";
  std::vector<Row<4>> rows = {{"LAST CALLS", "OUTCOME", "AGO", "TOOK"}};
  for (const auto& call : report.calls) {
    rows.push_back({call.method, std::string(call.error ? to_string(*call.error) : "ok"),
                    seconds_text(call.ago), seconds_text(call.took)});
  }
  std::string text = "\n" + table_text(rows);
  if (report.errors.empty()) return text;
  std::vector<Row<3>> errors = {{"LAST ERRORS", "AGO", "ERROR"}};
  for (const auto& failure : report.errors) {
    errors.push_back({failure.method, seconds_text(report.time - failure.at),
                      escaped(failure.error.to_string())});
  }
  return text + "\n" + table_text(errors);
}

net::HttpResponse as_text(const Node& node, const Found& found) {
  const ObjectReport& report = found.report;
  std::vector<Row<2>> rows = {{"owner", owner_text(node, found)}};
  if (report.active) add_active_rows(report, rows);
  return {.body = found.type + " " + quote(found.id) + ": " + verdict_of(found) + "\n\n" +
                  table_text(rows) + visitors_text(report.running, report.running_count, "RUNS") +
                  stacks_text(found) +
                  visitors_text(report.waiting, report.waiting_count, "WAITS") +
                  history_text(report)};
}

}  // namespace

Result<net::HttpResponse> object_page(Node& node, const net::HttpRequest& request) {
  auto name = name_of(node, request.path());
  if (!name) {
    auto response = bad_query(name.error());
    if (name.error().code() == Code::not_found) response.status = 404;
    return response;
  }
  auto found = look(node, *std::move(name));
  if (!found) return found.error();
  return in_format(
      request, [&] { return as_json(node, *found); }, [&] { return as_text(node, *found); });
}

}  // namespace corolane::framework::detail
