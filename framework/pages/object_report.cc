#include "framework/pages/object_report.h"

#include <algorithm>
#include <utility>

#include "coroutine/task.h"
#include "framework/objects/detail/object_host.h"

namespace corolane::framework::detail {
namespace {

using Stage = ObjectVisitor::Stage;

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

}  // namespace

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

}  // namespace corolane::framework::detail
