// SPDX-License-Identifier: MIT
// /objects/{type}/{id}: one object, its owner and its calls.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/text.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/task.h"
#include "coroutine/task_info.h"
#include "framework/cluster/cluster.h"
#include "framework/node/each_shard.h"
#include "framework/node/shard.h"
#include "framework/objects/detail/object_history.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/detail/object_visitor.h"
#include "framework/pages/detail/far_page.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "framework/pages/detail/wait_chain.h"
#include "framework/store/detail/store_gate.h"
#include "framework/time/wall_clock.h"
#include "net/http/percents.h"

namespace corolane::framework::detail {
namespace {

using Stage = ObjectVisitor::Stage;

// --- What the object's shard knows

// Longer lists would not be read.
constexpr std::size_t waiting_count_max = 100;
constexpr std::size_t running_count_max = 16;
// Finding a task among very many takes time.
constexpr std::size_t task_count_max = 4;
// What a call shows that has given its turn back to wait.
constexpr const char* outside_text = "an event, without a turn";

// Made by the shard; the page is built on another thread, and later.
struct ObjectReport {
  std::uint64_t epoch = 0;  // The epoch of this node's ownership; 0: none.
  bool is_on_the_move = false;
  std::string silence = {};        // Its shard hangs: all that is known of it.
  bool hides_change = false;       // Withheld from callers until it is stored.
  std::string store_trouble = {};  // What the store has said last, if a change is withheld.
  Json active = {};                // Null: not active.
  std::vector<Json> running = {};  // Or waiting without a turn; the earliest comes first.
  std::vector<Json> waiting = {};
  std::vector<coroutine::TaskId> tasks = {};  // A running call.
  std::vector<coroutine::StackTrace> traces = {};
  std::size_t running_count = 0;
  std::size_t waiting_count = 0;
  Json calls = Json::array();
  Json errors = Json::array();
};

Json seconds_or_null(const std::optional<Duration>& duration) {
  return duration ? Json(in_seconds(*duration)) : Json();
}

std::vector<std::string> names_of(const CallChain::Link* link) {
  std::vector<std::string> names;
  for (const rpc::ObjectCall& call : calls_of(link)) {
    names.push_back(std::string(call.method) + "(\"" + std::string(call.id) + "\")");
  }
  return names;
}

Json visitor_json(const ObjectVisitor& visitor, const Shard& shard, TimePoint time) {
  const ObjectVisitor::Facts& facts = visitor.facts();
  const coroutine::TaskAddress task{.scheduler = static_cast<std::uint32_t>(shard.index()),
                                    .id = visitor.task()};
  return {{"method", facts.what},
          {"task", task.id == 0 ? Json() : address_json(task)},
          {"seconds", in_seconds(time - visitor.since())},
          {"age_seconds", in_seconds(time - facts.arrived_at)},
          {"deadline_seconds",
           facts.deadline.is_never() ? Json() : Json(in_seconds(facts.deadline.remaining()))},
          {"peer", facts.peer},
          {"callers", names_of(facts.callers.get())}};
}

// There are at most as many as a mailbox holds.
void add_visitors(ObjectReport& report, const ObjectCell& cell, const Shard& shard,
                  TimePoint time) {
  std::vector<const ObjectVisitor*> all;
  for (const auto* visitor = cell.visitors(); visitor != nullptr; visitor = visitor->next()) {
    if (visitor->stage() != Stage::leaving) all.push_back(visitor);
  }
  std::ranges::reverse(all);
  for (const ObjectVisitor* const visitor : all) {
    if (visitor->stage() == Stage::waiting) {
      if (++report.waiting_count > waiting_count_max) continue;
      report.waiting.push_back(visitor_json(*visitor, shard, time));
    } else {
      if (++report.running_count > running_count_max) continue;
      Json& json = report.running.emplace_back(visitor_json(*visitor, shard, time));
      json["waiting_for"] = visitor->stage() == Stage::outside ? outside_text : "-";
      report.tasks.push_back(visitor->task());
    }
  }
}

// Adds what the tasks of the running calls do. Suspends.
void add_tasks(ObjectReport& report, const Shard& shard) {
  report.traces.resize(report.tasks.size());
  for (std::size_t i = 0; i < std::min(report.tasks.size(), task_count_max); ++i) {
    const auto task = shard.scheduler().task(report.tasks[i]);
    static_cast<void>(coroutine::yield());  // A cancelled caller continues at once.
    if (!task) continue;
    report.traces[i] = task->trace;
    Json& waiting_for = report.running[i]["waiting_for"];
    if (waiting_for.text() != "-") continue;
    waiting_for = task->waiting_for.empty() ? Json(to_string(task->state)) : task->waiting_for;
  }
}

Json active_json(const ObjectCell& cell, TimePoint time) {
  const ObjectAlarms* const alarms = cell.known_alarms();
  const auto wake_at = alarms == nullptr ? std::nullopt : alarms->reminders.wake_at();
  const auto idle = cell.is_idle() ? std::optional(time - cell.used_at) : std::nullopt;
  const auto unsaved =
      cell.is_changed() ? std::optional(time - cell.changed_since()) : std::nullopt;
  const auto save = cell.history().failed_save();
  const auto failing = alarms == nullptr ? std::nullopt : alarms->reminders.failing();
  const auto undelivered = alarms == nullptr ? std::nullopt : alarms->outbox.failure();
  return {{"seconds", in_seconds(time - cell.active_since())},
          {"idle_seconds", seconds_or_null(idle)},
          {"memory_bytes", cell.size_bytes()},
          {"state_bytes", cell.state_bytes()},
          {"version", cell.version()},
          {"unsaved_seconds", seconds_or_null(unsaved)},
          {"last_save_error", save ? Json(save->error.to_string()) : Json()},
          {"last_save_error_seconds_ago", save ? Json(in_seconds(time - save->at)) : Json()},
          {"timers", alarms == nullptr ? 0 : alarms->timers.size()},
          {"reminders", alarms == nullptr ? 0 : alarms->reminders.size()},
          {"failing_reminder",
           failing ? Json{{"name", failing->name},
                          {"failures", failing->failed_count},
                          {"error", failing->error},
                          {"comes_again_in_seconds", in_seconds(failing->comes_again_in)}}
                   : Json()},
          {"outbox_calls", alarms == nullptr ? 0 : alarms->outbox.size()},
          {"outbox_error", undelivered ? Json(undelivered->to_string()) : Json()},
          {"next_reminder_at", wake_at ? Json(utc_text(*wake_at)) : Json()},
          {"subscribed_shards", cell.reader_count()},
          {"follows", cell.followed_count()}};
}

void add_history(ObjectReport& report, const ObjectHistory& history, TimePoint time) {
  for (const auto& call : history.calls(time)) {
    report.calls.push_back({{"method", call.method},
                            {"outcome", call.error ? to_string(*call.error) : "ok"},
                            {"seconds_ago", in_seconds(call.ago)},
                            {"took_seconds", in_seconds(call.took)}});
  }
  for (const auto& failure : history.errors()) {
    report.errors.push_back({{"method", failure.method},
                             {"code", to_string(failure.error.code())},
                             {"error", failure.error.message()},
                             {"seconds_ago", in_seconds(time - failure.at)}});
  }
}

// Runs on the shard that has the objects of that partition. Suspends.
ObjectReport report_of(const Shard& shard, std::string_view type, const std::string& id) {
  ObjectReport report;
  const TimePoint time = shard.scheduler().turn_time();
  const HostedType* const hosted =
      shard.host() == nullptr ? nullptr : shard.host()->find_type(type);
  if (hosted == nullptr) return report;
  const Partition partition = hosted->partition_of(id);
  report.epoch = hosted->ownership().epoch(partition);
  report.is_on_the_move = shard.host()->is_on_the_move(*hosted, partition);
  if (const ObjectCell* const cell = hosted->find(id)) {
    if (cell->is_active()) {
      report.active = active_json(*cell, time);
      report.hides_change = cell->hides_change();
      const StoreGate* const store = shard.store_gate();
      if (report.hides_change && store != nullptr) report.store_trouble = store->last_trouble();
    }
    add_visitors(report, *cell, shard, time);
    add_history(report, cell->history(), time);
  }
  add_tasks(report, shard);
  return report;
}

// --- What the node knows

// Of an object whose shard hangs.
ObjectReport report_without_shard(Node& node, const ShardSilence& silence, const std::string& type,
                                  Partition partition) {
  ObjectReport report;
  for (const HostedObjects& hosted : node.hosted()) {
    if (hosted.type.name == type) report.epoch = hosted.ownership->epoch(partition);
  }
  report.silence = silence_text(node, silence);
  return report;
}

Json owner_json(const Node& node, const std::string& type, Partition partition,
                const ObjectReport& report) {
  const bool is_here = report.epoch != 0;
  const auto view = node.cluster() == nullptr ? nullptr : node.cluster()->view();
  const auto* const group = view == nullptr ? nullptr : view->find_group(type);
  const auto owner = group == nullptr ? ClusterView::Owner() : group->owner(partition);
  const auto* const member = owner.member;
  return {{"is_here", is_here},
          {"node", is_here             ? Json(node.config().name)
                   : member == nullptr ? Json()
                                       : Json(member->name)},
          {"node_epoch", member == nullptr ? Json() : Json(member->epoch)},
          {"partition", partition},
          {"partition_epoch", is_here ? report.epoch : owner.epoch},
          {"shard", is_here ? Json(partition % node.shard_count()) : Json()},
          {"is_on_the_move", report.is_on_the_move}};
}

// The work that keeps the others waiting: inside the object, else the oldest.
const Json& first_running_of(const ObjectReport& report) {
  const auto inside = std::ranges::find_if(
      report.running, [](const Json& row) { return row.at("waiting_for").text() != outside_text; });
  return inside == report.running.end() ? report.running.front() : *inside;
}

// What an operator would conclude from the rest, in one to three sentences: its parts.
struct Verdict {
  std::string begin;
  std::string wait = {};  // What the first of its calls waits for; a chain tells more.
  std::string rest = {};
  bool is_of_waits = false;  // How a chain ends belongs to it.
};

Verdict verdict_of(const Json& owner, const ObjectReport& report) {
  if (!owner.at("is_here").is_true()) {
    return {.begin = owner.at("node").is_null()
                         ? "no node owns it now: calls wait until one does"
                         : "node " + cell_text(owner.at("node")) + " owns it: ask there"};
  }
  if (!report.silence.empty()) return {.begin = report.silence};
  if (report.is_on_the_move) {
    return {.begin = "it is moving to another node: calls wait until it has moved"};
  }
  const bool is_active = !report.active.is_null();
  Verdict verdict{.begin = is_active ? "active" : "not active: the next call loads it"};
  if (!report.running.empty()) {
    const Json& first = first_running_of(report);
    const bool is_outside = first.at("waiting_for").text() == outside_text;
    verdict.begin = cell_text(first.at("method")) +
                    (is_outside  ? " is outside of its turn for "
                     : is_active ? " runs for "
                                 : " activates it for ") +
                    seconds_text(first.at("seconds")) + ", ";
    verdict.wait = "waits for " + cell_text(first.at("waiting_for"));
  } else if (const Json& idle = report.active.at("idle_seconds"); !idle.is_null()) {
    verdict.begin = "idle for " + seconds_text(idle);
  }
  if (report.waiting_count > 0) {
    verdict.rest = "; " + count_text(report.waiting_count, "waits", "wait") + " for a turn";
  }
  if (report.hides_change) {
    verdict.rest += "; a change is withheld until it is stored, and storing it has failed";
    if (!report.store_trouble.empty()) verdict.rest += ": " + report.store_trouble;
  }
  verdict.is_of_waits = !report.running.empty() || report.waiting_count > 0;
  return verdict;
}

std::string verdict_text(const Verdict& verdict, const WaitChain& chain) {
  const bool is_told = !verdict.wait.empty() && !chain.rest.empty();
  const auto links = chain.links.elements();
  const std::string_view kind =
      links.empty() ? std::string_view() : links.front().at("kind").text();
  // A reminder, or the publication that is handled, has a name in the chain alone.
  const bool is_named = is_told && (kind == "reminder" || kind == "event");
  std::string text =
      (is_named ? std::string(links.front().at("text").text()) + ", " : verdict.begin) +
      (is_told ? chain.rest : verdict.wait) + verdict.rest;
  return verdict.is_of_waits && !chain.ends.empty() ? text + ". " + chain.ends : text;
}

// For a node that follows the waits itself.
Json verdict_parts(const Verdict& verdict) {
  if (!verdict.is_of_waits) return Json::array();
  return Json::array({verdict.begin, verdict.wait, verdict.rest});
}

// Another node waits for less time than the names of functions may take to be read for the first
// time, and than other nodes on the way have to answer.
enum class AskedBy : std::uint8_t { operators, node };

Result<Json> object_json(Node& node, const ObjectName& name, AskedBy asked_by) {
  const auto view = node.cluster() == nullptr ? nullptr : node.cluster()->view();
  const Partition partition =
      view == nullptr ? partition_of(name.type, name.id) : view->partition_hash(name.type)(name.id);
  ObjectReport report;
  const std::size_t its_shard = partition % node.shard_count();
  auto shards = from_each_shard(node, [name, its_shard](const Shard& shard) {
    return shard.index() == its_shard ? report_of(shard, name.type, name.id) : ObjectReport();
  });
  if (!shards) return shards.error();
  for (std::size_t i = 0; i < shards->parts.size(); ++i) {
    if (shards->numbers[i] == its_shard) report = std::move(shards->parts[i]);
  }
  std::erase_if(shards->silent, [&](const auto& silence) { return silence.shard != its_shard; });
  if (!shards->silent.empty())
    report = report_without_shard(node, shards->silent.front(), name.type, partition);
  for (Json& running : report.running) running["stack"] = Json::array();
  if (asked_by == AskedBy::operators) {
    node.run_with_symbols([&](coroutine::Symbols& symbols) {
      for (std::size_t i = 0; i < report.running.size(); ++i) {
        report.running[i]["stack"] = frames_json(symbols.frames(report.traces[i]));
      }
    });
  }
  const Json owner = owner_json(node, name.type, partition, report);
  const bool waits = !report.running.empty() || report.waiting_count > 0;
  const bool follows = waits && asked_by == AskedBy::operators;
  WaitChain chain = follows ? follow_waits(node, name) : WaitChain();
  const Verdict verdict = verdict_of(owner, report);
  Json page({{"verdict", verdict_text(verdict, chain)},
             {"type", name.type},
             {"id", name.id},
             {"owner", owner},
             {"chain", std::move(chain.links)},
             {"is_active", !report.active.is_null()},
             {"active", std::move(report.active)},
             {"running_count", report.running_count},
             {"running", report.running},
             {"waiting_count", report.waiting_count},
             {"waiting", report.waiting},
             {"last_calls", std::move(report.calls)},
             {"last_errors", std::move(report.errors)}});
  if (asked_by == AskedBy::node) page["verdict_parts"] = verdict_parts(verdict);
  name_silent_shards(page, node, shards->silent);
  return page;
}

// The answer of the owner with the chain of waits, which is followed here.
Json followed(Node& node, const ObjectName& name, const Json& answer) {
  Json page = Json::object();
  for (const auto& [key, value] : std::get<Json::Object>(answer.value())) {
    if (key != "verdict_parts") page[key] = value;
  }
  page["owner"]["is_here"] = false;
  // A node of a former build has followed it.
  if (answer.at("verdict_parts").is_null()) return page;
  const bool waits = answer.at("running").size() > 0 || answer.at("waiting_count").number() > 0;
  WaitChain chain = waits ? follow_waits(node, name) : WaitChain();
  const auto parts = answer.at("verdict_parts").elements();
  if (parts.size() == 3) {
    const Verdict verdict{.begin = std::string(parts[0].text()),
                          .wait = std::string(parts[1].text()),
                          .rest = std::string(parts[2].text()),
                          .is_of_waits = true};
    page["verdict"] = verdict_text(verdict, chain);
  }
  page["chain"] = std::move(chain.links);
  return page;
}

// The page of the node that owns the object, as long as that answers; otherwise what is known here.
Result<Json> object_of_owner(Node& node, const ObjectName& name) {
  const auto view = node.cluster() == nullptr ? nullptr : node.cluster()->view();
  const ObjectPlace place = place_of(node, view.get(), name);
  if (place.is_here || place.member == nullptr) return object_json(node, name, AskedBy::operators);
  auto far = far_page(node, *place.member, path_of(name) + "?format=json&here=1");
  if (far && far->at("owner").is_object()) return followed(node, name, *far);
  auto known = object_json(node, name, AskedBy::operators);
  if (!known) return known;
  (*known)["verdict"] = "node " + place.member->name + " owns it, and " +
                        (far ? "knows nothing of it" : no_answer_text(far.error()));
  return known;
}

// --- Text

std::string owner_text(const Json& owner) {
  const std::string partition = "partition " + cell_text(owner.at("partition")) + ", epoch " +
                                cell_text(owner.at("partition_epoch"));
  const std::string node = cell_text(owner.at("node"));
  if (owner.at("node").is_null()) return "no node; " + partition;
  if (const Json& shard = owner.at("shard"); !shard.is_null()) {
    return (owner.at("is_here").is_true() ? "this node (" + node + ")" : "node " + node) +
           ", shard " + cell_text(shard) + ", " + partition;
  }
  return "node " + node + ", epoch " + cell_text(owner.at("node_epoch")) + "; " + partition;
}

std::string facts_text(const Json& object) {
  std::vector<std::vector<std::string>> lines = {{"owner", owner_text(object.at("owner"))}};
  const Json& active = object.at("active");
  if (active.is_null()) return aligned_text(lines);
  const Json& unsaved = active.at("unsaved_seconds");
  const Json& wake_at = active.at("next_reminder_at");
  lines.push_back({"active", "for " + seconds_text(active.at("seconds"))});
  lines.push_back({"state", count_text(active.at("state_bytes"), "byte", "bytes") + ", version " +
                                cell_text(active.at("version")) + "; about " +
                                cell_text(active.at("memory_bytes")) + " bytes of memory"});
  lines.push_back({"unsaved", unsaved.is_null() ? "nothing" : "for " + seconds_text(unsaved)});
  if (const Json& error = active.at("last_save_error"); !error.is_null()) {
    const Json& ago = active.at("last_save_error_seconds_ago");
    lines.push_back({"save failed", seconds_text(ago) + " ago: " + cell_text(error)});
  }
  lines.push_back({"alarms", count_text(active.at("timers"), "timer", "timers") + ", " +
                                 count_text(active.at("reminders"), "reminder", "reminders") +
                                 (wake_at.is_null() ? "" : ", the next at " + cell_text(wake_at))});
  if (const Json& failing = active.at("failing_reminder"); !failing.is_null()) {
    lines.push_back({"reminder", quote(failing.at("name").text()) + " has failed " +
                                     count_text(failing.at("failures"), "time", "times") +
                                     " in a row: " + cell_text(failing.at("error")) +
                                     "; it comes again in " +
                                     seconds_text(failing.at("comes_again_in_seconds"))});
  }
  if (const Json& calls = active.at("outbox_calls"); calls.number() > 0) {
    const Json& error = active.at("outbox_error");
    lines.push_back({"outbox", count_text(calls, "call", "calls") + " not delivered yet" +
                                   (error.is_null() ? "" : ": " + cell_text(error))});
  }
  lines.push_back({"follows", count_text(active.at("follows"), "object", "objects") +
                                  "; followed by " +
                                  count_text(active.at("subscribed_shards"), "shard", "shards")});
  return aligned_text(lines);
}

// A line for each link of a chain that goes on beyond the object.
std::string chain_text(const Json& chain) {
  if (chain.elements().size() < 3) return "";
  return "\n" + table_text(chain,
                           "WAITS ON: object, NODE: node, SHARD: shard, TASK: task, "
                           "STEP: text, TIME LEFT: deadline_seconds");
}

std::string caller_cell(const Json& visitor) {
  const std::string_view peer = visitor.at("peer").text();
  std::string text = peer.empty() ? "" : "from " + std::string(peer);
  for (const Json& caller : visitor.at("callers").elements()) {
    text.append(text.empty() ? "" : " > ").append(caller.text());
  }
  return text.empty() ? "this node" : escaped(text);
}

std::string awaited_cell(const Json& visitor) {
  const Json& awaited = visitor.at("waiting_for");
  return awaited.is_null() ? "its turn" : cell_text(awaited);
}

std::string visitors_text(const std::string& title, const Json& visitors, const Json& count) {
  if (visitors.size() == 0) return "";
  std::string text = "\n" + table_text(visitors,
                                       title +
                                           ": method, TASK: task, SINCE: seconds, "
                                           "TIME LEFT: deadline_seconds, "
                                           "WAITS FOR: waiting_for, CALLER: callers",
                                       {{"waiting_for", awaited_cell}, {"callers", caller_cell}});
  if (count.number() <= static_cast<double>(visitors.size())) return text;
  return text + cell_text(count) + " in all, the first " + std::to_string(visitors.size()) +
         " shown\n";
}

std::string stacks_text(const Json& running) {
  std::string text;
  for (const Json& visitor : running.elements()) {
    if (visitor.at("stack").size() == 0) continue;
    text += "\ntask " + cell_text(visitor.at("task")) + ", " + cell_text(visitor.at("method")) +
            "\n" + frames_text(visitor.at("stack"));
  }
  return text;
}

std::string error_cell(const Json& failure) {
  return cell_text(failure.at("code")) + ": " + cell_text(failure.at("error"));
}

std::string history_text(const Json& calls, const Json& errors) {
  std::string text;
  if (calls.size() > 0) {
    text += "\n" + table_text(calls,
                              "LAST CALLS: method, OUTCOME: outcome, AGO: seconds_ago, "
                              "TOOK: took_seconds");
  }
  if (errors.size() > 0) {
    text += "\n" + table_text(errors, "LAST ERRORS: method, AGO: seconds_ago, ERROR: error",
                              {{"error", error_cell}});
  }
  return text;
}

std::string object_text(const Json& object) {
  const Json& running = object.at("running");
  return cell_text(object.at("type")) + " " + quote(object.at("id").text()) + ": " +
         escaped(object.at("verdict").text()) + "\n\n" + facts_text(object) +
         chain_text(object.at("chain")) +
         visitors_text("RUNS", running, object.at("running_count")) + stacks_text(running) +
         visitors_text("WAITS", object.at("waiting"), object.at("waiting_count")) +
         history_text(object.at("last_calls"), object.at("last_errors"));
}

}  // namespace

Result<net::HttpResponse> object_page(Node& node, const net::HttpRequest& request) {
  auto name = find_object(node, request.path().substr(std::string_view("/objects/").size()));
  if (!name) {
    auto response = bad_query(name.error());
    if (name.error().code() == Code::not_found) response.status = 404;
    return response;
  }
  if (!request.query("links").empty()) {
    const auto links = own_links(node, *name);
    if (!links) return links.error();
    return json_response(*links);
  }
  const bool is_for_a_node = !request.query("here").empty();
  const auto object =
      is_for_a_node ? object_json(node, *name, AskedBy::node) : object_of_owner(node, *name);
  if (!object) return object.error();
  return in_format(request, *object, object_text);
}

}  // namespace corolane::framework::detail
