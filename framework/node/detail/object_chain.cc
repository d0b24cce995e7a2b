// SPDX-License-Identifier: MIT
#include "framework/node/detail/object_chain.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "framework/node/detail/task_objects.h"
#include "framework/node/shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/object_router.h"
#include "framework/store/detail/store_gate.h"

namespace corolane::framework::detail {
namespace {

using Kind = WaitStep::Kind;
using Stage = ObjectVisitor::Stage;

// More locks behind one another than any program holds.
constexpr std::size_t step_count_max = 32;

// The one that keeps the others waiting: the call that has the turn, else the earliest.
const ObjectVisitor* busy_visitor_of(const ObjectCell& cell) {
  const ObjectVisitor* inside = nullptr;
  const ObjectVisitor* other = nullptr;
  for (const auto* visitor = cell.visitors(); visitor != nullptr; visitor = visitor->next()) {
    if (visitor->stage() == Stage::inside) inside = visitor;
    if (visitor->stage() != Stage::leaving) other = visitor;
  }
  return inside != nullptr ? inside : other;
}

class ChainSearch {
 public:
  explicit ChainSearch(const Shard& shard) : shard_(shard), time_(shard.scheduler().turn_time()) {}

  ObjectChain run(std::string_view type, const std::string& id) {
    follow_object(type, id);
    return std::move(chain_);
  }

 private:
  WaitStep& add(WaitStep step) {
    step.of = of_;
    return chain_.steps.emplace_back(std::move(step));
  }

  void follow_object(std::string_view type, const std::string& id) {
    const HostedType* const hosted =
        shard_.host() == nullptr ? nullptr : shard_.host()->find_type(type);
    if (hosted == nullptr) return static_cast<void>(add({.kind = Kind::absent}));
    if (shard_.host()->is_on_the_move(*hosted, hosted->partition_of(id))) {
      return static_cast<void>(add({.kind = Kind::moving}));
    }
    const ObjectCell* const cell = hosted->find(id);
    if (cell == nullptr) return static_cast<void>(add({.kind = Kind::absent}));
    const ObjectVisitor* const visitor = busy_visitor_of(*cell);
    if (visitor == nullptr) return static_cast<void>(add({.kind = Kind::idle}));
    follow_visitor(*visitor, *cell);
  }

  void follow_visitor(const ObjectVisitor& visitor, const ObjectCell& cell) {
    WaitStep& runs = add({.kind = Kind::runs,
                          .what = visitor.facts().what,
                          .time = time_ - visitor.since(),
                          .task = visitor.task(),
                          .deadline = visitor.facts().deadline});
    describe_own_work(runs, visitor, cell);
    if (visitor.stage() == Stage::outside) runs.kind = Kind::outside;
    if (visitor.stage() == Stage::inside && !cell.is_active()) runs.kind = Kind::loads;
    if (follow_call(visitor.out_calls(), visitor.task())) return;
    const auto task = shard_.scheduler().task(visitor.task());
    if (task) runs.task_name = task->name;
    if (follow_store(visitor, cell, task)) return;
    // A task that the handler has spawned calls, and the handler waits for that task.
    if (task && task->awaited && task->awaited->is_held) return follow_wait(*task);
    if (visitor.out_calls() != nullptr) {
      return static_cast<void>(follow_call(visitor.out_calls(), visitor.out_calls()->task()));
    }
    if (task) follow_wait(*task, &cell);
  }

  // Which reminder or publication the visitor has come for, if it has.
  static void describe_own_work(WaitStep& runs, const ObjectVisitor& visitor,
                                const ObjectCell& cell) {
    const ObjectAlarms* const alarms = cell.known_alarms();
    if (alarms != nullptr && !alarms->reminders.running().empty() &&
        runs.what.ends_with("/reminder")) {
      runs.kind = Kind::reminder;
      runs.what = alarms->reminders.running();
    }
    for (const auto& follower : cell.followers()) {
      if (follower->task() != visitor.task() || follower->source() == nullptr) continue;
      runs.kind = Kind::event;
      runs.object = {.type = follower->source()->type, .id = follower->source()->id};
    }
  }

  // The call among these that the task waits for.
  bool follow_call(const CallChain::OutCall* call, coroutine::TaskId task) {
    while (call != nullptr && call->task() != task) call = call->next();
    if (call == nullptr) return false;
    chain_.next = {.type = std::string(call->type()), .id = std::string(call->id())};
    add({.kind = Kind::call,
         .what = std::string(call->method().full_name),
         .task = task,
         .object = chain_.next});
    return true;
  }

  // A change may be on its way by another task, which writes those of several calls together.
  bool follow_store(const ObjectVisitor& visitor, const ObjectCell& cell,
                    const std::optional<coroutine::TaskInfo>& task) {
    if (shard_.store_gate() == nullptr) return false;
    const bool waits_for_store = task && task->waiting_for == "the store";
    const auto* question = shard_.store_gate()->questions();
    for (; question != nullptr; question = question->next()) {
      const bool is_its_own = question->task() == visitor.task() || waits_for_store;
      if (is_its_own && question->key().type == cell.type().name() &&
          question->key().id == cell.id()) {
        break;
      }
    }
    if (question == nullptr) return false;
    add({.kind = Kind::store,
         .what = std::string(question->what()),
         .time = time_ - question->asked_at(),
         .task = question->task(),
         .deadline = question->deadline()});
    return true;
  }

  // `cell` is the object for which the task works; null: unknown.
  void follow_wait(const coroutine::TaskInfo& task, const ObjectCell* cell = nullptr) {
    if (chain_.steps.size() >= step_count_max) return;
    WaitStep& step = add({.kind = Kind::waits,
                          .what = task.waiting_for,
                          .time = task.in_state,
                          .task = task.id,
                          .task_name = task.name,
                          .deadline = task.wait_deadline});
    if (task.state != coroutine::TaskState::suspended) step.kind = Kind::computes;
    if (!task.awaited) return;
    step.site = task.awaited->site;
    if (cell != nullptr && task.waiting_for == ObjectCell::change_name) {
      return describe_change(step, *cell);
    }
    // The search looks at all feeds of the shard.
    if (task.waiting_for == Broadcast::awaited_name &&
        follow_publications(step, task.awaited->identity)) {
      return;
    }
    if (!task.awaited->is_held) return;
    step.kind = Kind::lock;
    step.holder = task.awaited->holder;
    if (step.holder != 0) follow_holder(step.holder);
  }

  void describe_change(WaitStep& step, const ObjectCell& cell) {
    step.kind = Kind::change;
    step.object = {.type = std::string(cell.type().name()), .id = cell.id()};
    const ObjectAlarms* const alarms = cell.known_alarms();
    if (alarms == nullptr) return;
    step.timer_count = alarms->timers.size();
    const auto next = alarms->reminders.next();
    if (!next) return;
    step.reminder = next->name;
    step.reminder_in = next->in;
  }

  bool follow_publications(WaitStep& step, const void* awaited) {
    const Feed* const feed = shard_.object_router().push().feeds().find_awaited(awaited);
    if (feed == nullptr) return false;
    step.kind = Kind::follow;
    step.object = chain_.next = {.type = feed->type(), .id = feed->id()};
    return true;
  }

  // The holder of a lock, for which the last step waits.
  void follow_holder(coroutine::TaskId holder) {
    const std::size_t last = chain_.steps.size() - 1;
    const bool was_seen = std::ranges::any_of(
        chain_.steps, [holder](const WaitStep& step) { return step.task == holder; });
    const auto task = shard_.scheduler().task(holder);
    if (task) chain_.steps[last].holder_name = task->name;
    auto object = object_of_task(shard_, holder);
    if (was_seen) return static_cast<void>(add({.kind = Kind::again, .task = holder}));
    if (object) {
      chain_.steps[last].object = object;
      if (follow_visitor_of(*object, holder)) return;
    }
    if (follow_call(shard_.object_router().calls_of_tasks(), holder) || !task) return;
    follow_wait(*task);
  }

  // The object may have others inside; the one that holds the lock is followed.
  bool follow_visitor_of(const ChainObject& object, coroutine::TaskId task) {
    const HostedType* const hosted = shard_.host()->find_type(object.type);
    const ObjectCell* const cell = hosted == nullptr ? nullptr : hosted->find(object.id);
    if (cell == nullptr) return false;
    const auto* visitor = cell->visitors();
    while (visitor != nullptr && visitor->task() != task) visitor = visitor->next();
    if (visitor == nullptr) return false;
    of_ = object;
    follow_visitor(*visitor, *cell);
    return true;
  }

  const Shard& shard_;
  const TimePoint time_;
  std::optional<ChainObject> of_;
  ObjectChain chain_;
};

}  // namespace

ObjectChain chain_of(const Shard& shard, std::string_view type, const std::string& id) {
  return ChainSearch(shard).run(type, id);
}

}  // namespace corolane::framework::detail
