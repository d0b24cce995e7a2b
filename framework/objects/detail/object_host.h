// The objects of one shard: finds them, makes them, gives their calls their turns, saves them, and
// lets them go when they are idle.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "framework/alarms/detail/alarm_runner.h"
#include "framework/alarms/detail/reminder_watch.h"
#include "framework/cluster/ownership.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_saver.h"
#include "framework/objects/detail/object_statistics.h"
#include "framework/objects/object.h"
#include "framework/store/store.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

class ObjectHost {
 public:
  struct Options {
    // Calls of one object, running and waiting: so many that may change it, beside them so many
    // that only read, and so many of the first that wait for an event without a turn. Apart, since
    // whoever only looks, or waits for long, keeps out nobody who wants to act.
    std::uint32_t mailbox_max = 1'024;
    Duration idle_time_max = std::chrono::minutes(5);
    std::size_t memory_bytes_max = std::size_t{1} << 30;  // Above it the idle ones go earlier.
    // Half of the second within which a change is stored.
    Duration save_after = std::chrono::milliseconds(500);
    std::size_t unsaved_count_max = 10'000;  // With more of them a call waits for its own write.
    Duration save_time_max = std::chrono::seconds(5);
    // Calls that wait for partitions that are on the move.
    std::size_t moving_calls_max = 10'000;
    std::size_t concurrent_saves_max = 64;  // What one commit of a store may hold, and more.
    AlarmRunner::Options alarms = {};
    ReminderWatch::Options reminders = {};
  };

  // All of them outlive it.
  ObjectHost(const ObjectCell::Surroundings& surroundings, Log& log, const Options& options);
  // Drops what is there. stop() first saves it.
  ~ObjectHost();
  ObjectHost(const ObjectHost&) = delete;
  ObjectHost& operator=(const ObjectHost&) = delete;

  // Before start(). `object_bytes` is the size of what the factory makes.
  HostedType& add(const ObjectType& type, const Ownership& ownership, HostedType::Factory factory,
                  std::size_t object_bytes);
  // Begins to save and to let go.
  Result<void> start();

  // One call, in the caller's task. Suspends. The object is that of context.object().
  Result<void> serve(HostedType& type, const rpc::Method& method,
                     const google::protobuf::Message& request, rpc::Context& context,
                     rpc::ReplySink& sink);

  // The same of one that came over a connection: from another node, which believes that the object
  // lives here, or from a client, which believes nothing.
  Result<void> serve_or_send_on(HostedType& type, const rpc::Method& method,
                                const google::protobuf::Message& request, rpc::Context& context,
                                rpc::ReplySink& sink);

  // Runs `work` in an exclusive turn of an object that is there, in the caller's task. Suspends.
  // `label`, "package.Room/follow", lives until then. Fails when the object is not ours any more,
  // or what it has changed cannot be stored and may not be seen.
  Result<void> run_in_turn(ObjectCell& cell, const std::string& label,
                           const std::function<void()>& work);

  // ObjectBase::follow().
  Result<void> begin_following(const std::shared_ptr<Follower>& follower, Broadcast::Reader reader,
                               Follower::Handler handler);

  // Calls a function of the object. Whoever asked for that is told of what it throws as an error,
  // wherever that is, and the object lives on. `where` says which, "package.Counter/Add".
  template <typename F>
  Result<void> without_exceptions(const ObjectCell& cell, std::string_view where, F&& function) {
    try {
      return std::forward<F>(function)();
    } catch (const std::exception& exception) {
      return thrown(cell, where, std::string(": ") + exception.what());
    } catch (...) {
      return thrown(cell, where, "");
    }
  }

  // ObjectBase::save().
  Result<void> save_now(ObjectCell& cell);
  // The object of that cell goes to sleep, and wants to be woken then.
  void wake_later(const ObjectCell& cell, WallTime time);
  // ObjectBase::wait_for().
  Result<void> wait_for(ObjectCell& cell, coroutine::Event& event, Deadline deadline);

  // Of the partitions of that placement: takes no more calls of their objects, those that come
  // wait; deactivates them when their calls have ended, or not by the deadline. Suspends. Returns
  // the partitions of objects that are still there.
  std::vector<Partition> release(const Ownership& ownership, std::span<const Partition> partitions,
                                 Deadline deadline);
  // It is decided who owns them: those that wait look again.
  void resume(const Ownership& ownership, std::span<const Partition> partitions);
  // Those that wait to hear that a partition is ours look again.
  void ownership_changed() {
    ownership_changed_.pulse();
    reminders_.ownership_changed();
  }
  // The node has lost all that it owned. Suspends until nothing is left of it.
  void drop_all();

  // Ends what runs by timers, and what objects follow: gives it half of the time, then cancels it.
  // Deactivates all objects, or those that can be by then. Suspends. No call runs any more, and no
  // subscription.
  Result<void> stop(Deadline deadline);

  // As in Options, from now on; calls that wait in a mailbox stay.
  void set_limits(std::uint32_t mailbox_max, Duration idle_time_max, std::size_t memory_bytes_max);

  const std::vector<std::unique_ptr<HostedType>>& types() const { return types_; }
  // Null when there are none of that name.
  HostedType* find_type(std::string_view name) const;
  // Whether calls of its objects wait to hear who owns it from now on.
  bool is_on_the_move(const HostedType& type, Partition partition) const;
  // Of all types.
  ObjectStatistics statistics() const;
  AlarmRunner& alarms() { return alarms_; }
  const AlarmRunner& alarms() const { return alarms_; }

 private:
  class Visit;
  class QuietVisit;
  class Letter;
  class Turn;
  class Gate;

  using Released = std::pair<const Ownership*, Partition>;

  bool is_on_the_move(const ObjectCell& cell) const;
  Result<void> wait_for_move(HostedType& type, const rpc::Context& context);
  Result<void> wait_for_ownership(const HostedType& type, Partition partition,
                                  const rpc::Context& context);
  // That of the object, for one more call. Makes it where there is none.
  Result<ObjectCell*> cell_of(HostedType& type, std::string_view id, MailboxPart part);
  Error refuse(HostedType& type, std::string_view id, std::string_view what) const;
  Result<void> wake(HostedType& type, std::string_view id);
  Result<void> make_ready(ObjectCell& cell, std::uint32_t failed_before, Deadline deadline);
  // Takes a turn in which the handler may begin.
  Result<void> begin(Turn& turn, std::uint32_t failed_before, const rpc::Method& method,
                     const rpc::Context& context);
  Result<void> invoke(Turn& turn, const rpc::Method& method,
                      const google::protobuf::Message& request, rpc::Context& context,
                      rpc::ReplySink& sink);
  Error thrown(const ObjectCell& cell, std::string_view where, const std::string& what);
  // Asked right before a reply. What it logs for debugging proves, together with the lines of other
  // nodes, that there was one owner at a time (tools/chaos).
  bool may_reply(const ObjectCell& cell, const rpc::RequestId& request_id);
  static Error late(const ObjectCell& cell, const rpc::Context& context);
  void end_turn(ObjectCell& cell);
  void end_visit(ObjectCell& cell);
  void end_quiet_visit(ObjectCell& cell);

  bool has_too_many_unsaved() const { return saver_.count() >= options_.unsaved_count_max; }
  Result<void> save_for_reply(ObjectCell& cell, const rpc::Method& method);
  Result<void> save(ObjectCell& cell, Deadline deadline);
  void save_or_warn(ObjectCell& cell, Deadline deadline);
  ObjectSaver::Writing begin_writing(ObjectCell& cell);
  AlarmRunner::Run begin_run(std::shared_ptr<Alarm> alarm);
  template <typename F>
  Result<void> run_unasked(Turn& turn, const std::string& label, F&& work);
  void let_idle_go();
  std::vector<ObjectCell*> take_idle(std::size_t& look_count);
  Result<void> deactivate(ObjectCell& cell, Deadline turn_by, Deadline stored_by,
                          bool releases = true);
  bool drop_stale(ObjectCell& cell, Deadline deadline);
  void drop_soon(ObjectCell& cell);
  // Its abandoned seal, in a turn and a task of its own: the caller may be cancelled.
  void release_soon(ObjectCell& cell);
  // Some at a time; returns the first failure.
  template <typename F>
  Result<void> for_each(const std::vector<ObjectCell*>& cells, F&& act);
  void note_failure(ObjectCell& cell);
  void note_size(ObjectCell& cell, std::size_t bytes);

  const ObjectCell::Surroundings surroundings_;
  Log& log_;
  Options options_;
  std::vector<std::unique_ptr<HostedType>> types_;
  // Who was used last comes last; those in use are anywhere.
  std::list<ObjectCell*> cells_;
  std::set<Released> released_;  // Partitions that are on the move.
  std::size_t waiting_for_move_count_ = 0;
  coroutine::Event move_decided_{"the new owner of an object"};
  coroutine::Event ownership_changed_{"the owner of an object"};
  std::size_t memory_bytes_ = 0;
  ObjectSaver saver_;
  AlarmRunner alarms_;
  ReminderWatch reminders_;
  coroutine::TaskGroup housekeeping_;
  coroutine::TaskGroup followers_;
};

}  // namespace corolane::framework::detail
