// SPDX-License-Identifier: MIT
// The objects of one shard: finds and creates them, gives their calls turns, saves them, and
// deactivates them when they are idle.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/exception_text.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "framework/alarms/detail/alarm_runner.h"
#include "framework/alarms/detail/reminder_watch.h"
#include "framework/cluster/ownership.h"
#include "framework/cluster/witness.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/long_waits.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_saver.h"
#include "framework/objects/detail/object_statistics.h"
#include "framework/objects/object.h"
#include "framework/store/store.h"
#include "framework/telemetry/log.h"
#include "framework/wire/detail/call_chain.h"

namespace corolane::framework::detail {

class MessagePipe;

class ObjectHost {
 public:
  // The period of PartitionLoads.
  static constexpr Duration load_interval = std::chrono::seconds(10);

  struct Options {
    // The limit of calls per object, running and waiting. It applies separately to calls that may
    // change the object, to calls that only read, and to writing calls that wait for an event
    // without a turn. So readers and long waits do not keep out calls that act.
    std::uint32_t mailbox_max = 1'024;
    Duration idle_time_max = std::chrono::minutes(5);
    std::size_t memory_bytes_max = std::size_t{1} << 30;  // Above it idle objects leave earlier.
    std::size_t unsaved_count_max = 10'000;  // Above it a call waits for its own write.
    Duration save_time_max = std::chrono::seconds(5);
    // The limit of calls that wait for moving partitions.
    std::size_t moving_calls_max = 10'000;
    std::size_t concurrent_saves_max = 64;  // Enough writes to share a store's commits.
    AlarmRunner::Options alarms = {};
    ReminderWatch::Options reminders = {};
  };

  // For SchedulerOptions::on_cpu_charge: charges the object whose handler runs, and its partition.
  // A call of another object on the same shard is charged to that one. Async-signal-safe.
  static void charge_running_object(std::uint64_t nanoseconds);

  // All of them outlive it.
  ObjectHost(const ObjectCell::Surroundings& surroundings, Log& log, const Options& options);
  // Drops all objects; stop() saves them first.
  ~ObjectHost();
  ObjectHost(const ObjectHost&) = delete;
  ObjectHost& operator=(const ObjectHost&) = delete;

  // Before start(). `object_bytes` is the size of an object from the factory.
  HostedType& add(const ObjectType& type, const Ownership& ownership, HostedType::Factory factory,
                  std::size_t object_bytes, const HostOptions& options = {});
  // Starts saving and idle deactivation.
  Result<void> start();

  // Serves one call to context.object(), in the caller's task. Suspends.
  Result<void> serve(HostedType& type, const rpc::Method& method,
                     const google::protobuf::Message& request, rpc::Context& context,
                     rpc::Messages& sink);

  // The same for a call from a connection: from a node, which assumes that the object lives here,
  // or from a client, which assumes nothing.
  Result<void> serve_or_send_on(HostedType& type, const rpc::Method& method,
                                const google::protobuf::Message& request, rpc::Context& context,
                                rpc::Messages& sink);

  // Runs `work` in an exclusive turn of a present object, in the caller's task. Suspends. `label`,
  // "package.Room/follow", outlives the call. Fails when the object is not ours any more, or has a
  // hidden change that cannot be stored.
  Result<void> run_in_turn(ObjectCell& cell, const std::string& label,
                           const std::function<void()>& work);

  // ObjectBase::follow().
  std::shared_ptr<Follower> follow(ObjectCell& cell, Broadcast::Reader reader,
                                   Follower::Handler handler);

  // Calls a function of the object. An exception becomes an error of the call, and the object lives
  // on. `where` names the function, "package.Counter/Add".
  template <typename Where, typename F>
  [[gnu::always_inline]] Result<void> without_exceptions(const ObjectCell& cell, const Where& where,
                                                         F&& function) {
    try {
      return std::forward<F>(function)();
    } catch (...) {
      return thrown(cell, where, exception_text());
    }
  }

  // ObjectBase::save().
  Result<void> save_now(ObjectCell& cell);
  // The store has version `found` of an object, and had confirmed a later one to its owner. Reports
  // that, and returns the error of the call.
  Error lost_writes(const ObjectCell& cell, std::uint64_t found);
  // The object of that cell is being deactivated and has a reminder at `time`.
  void wake_later(const ObjectCell& cell, WallTime time);
  // For calls from outboxes: the objects' own row of a method, or, of a type that is not hosted
  // here, one whose request and reply carry any fields along unread.
  const rpc::Method& method_of(std::string_view full_name);
  // The objects' own row of a method; null for a method that is not known here.
  const rpc::Method* find_method(std::string_view full_name) const;
  Owners& owners() const { return surroundings_.owners; }
  // Numbers the outboxes that begin on this shard.
  std::uint64_t next_outbox_number() { return ++last_outbox_number_; }
  // ObjectBase::wait_until(), outside().
  Result<bool> wait_until(ObjectCell& cell, const std::function<bool()>& predicate,
                          Deadline deadline);
  Result<void> run_outside(ObjectCell& cell, const std::function<void()>& work, Deadline deadline);

  // Releases partitions of that placement: new calls of their objects wait; an object is
  // deactivated when its calls have ended by the deadline. Suspends, for some seconds more when a
  // hook or the store takes long. Returns the partitions that still have objects.
  std::vector<Partition> release(const Ownership& ownership, std::span<const Partition> partitions,
                                 Deadline deadline);
  // The owner of these partitions is decided: waiting calls check again.
  void resume(const Ownership& ownership, std::span<const Partition> partitions);
  // Calls that wait for news of our ownership check again.
  void ownership_changed() {
    ownership_changed_.pulse();
    reminders_.ownership_changed();
  }
  // False when the object that calls another one is not ours any more: what it asks for could come
  // after what its new owner asks for. Without a lease it asks the store, and suspends.
  bool may_call_out(const CallChain::Link& caller) const;
  // Fails with aborted, and not_executed, when the call would wait for an object whose handler
  // waits for the caller: both would wait for their deadlines.
  Result<void> check_call_out(const CallChain::Link& caller, const rpc::Method& method,
                              std::string_view type, std::string_view id) const;
  // The calls that were refused for that reason, here or where they arrived.
  std::uint64_t refused_cycle_count() const { return refused_cycle_count_; }
  // Before an object calls another one: what it has seen of earlier calls is stored first.
  // Suspends.
  Result<void> wait_for_shared_write(const CallChain::Link& caller) const;
  // Whether that may be necessary.
  bool has_shared_writes() const {
    return shared_write_count_ > 0 ||
           coroutine::Scheduler::current().turn_time() < shared_writes_failed_until_;
  }
  // The node has lost all partitions. Suspends until all objects are dropped.
  void drop_all();

  // Ends timers and followers: they have half of the time, then they are cancelled. Deactivates all
  // objects that can be stored before the deadline. Suspends. Calls and subscriptions must have
  // ended.
  Result<void> stop(Deadline deadline);

  // Changes these Options; calls that wait in a mailbox stay.
  void set_limits(std::uint32_t mailbox_max, Duration idle_time_max, std::size_t memory_bytes_max);

  const std::vector<std::unique_ptr<HostedType>>& types() const { return types_; }
  // Null when there is no such type.
  HostedType* find_type(std::string_view name) const;
  // Whether calls of its objects wait for the decision on its next owner.
  bool is_on_the_move(const HostedType& type, Partition partition) const;
  // The sum over all types.
  ObjectStatistics statistics() const;
  LongWaits& long_waits() { return long_waits_; }
  const LongWaits& long_waits() const { return long_waits_; }
  AlarmRunner& alarms() { return alarms_; }
  const AlarmRunner& alarms() const { return alarms_; }

 private:
  class Visit;
  class QuietVisit;
  class Letter;
  class Turn;
  class Gate;
  struct Leaving;

  using Released = std::pair<const Ownership*, Partition>;

  Result<void> find_and_serve(HostedType& type, const rpc::Method& method,
                              const google::protobuf::Message& request, rpc::Context& context,
                              rpc::Messages& sink, Partition partition);
  bool is_on_the_move(const ObjectCell& cell) const;
  Result<void> wait_for_move(HostedType& type, const rpc::Context& context);
  Result<void> check_may_wait_for_move() const;
  Result<void> wait_for_ownership(const HostedType& type, Partition partition,
                                  const rpc::Context& context);
  // The cell of the object, with room for one more call. Creates a missing cell.
  Result<ObjectCell*> cell_of(HostedType& type, std::string_view id, MailboxPart part);
  Error refuse(HostedType& type, std::string_view id, std::string_view what) const;
  Result<void> wake(HostedType& type, std::string_view id);
  Result<void> make_ready(ObjectCell& cell, std::uint32_t failed_before, Deadline deadline);
  // Takes a turn and makes the object ready for the handler.
  Result<void> begin(Turn& turn, std::uint32_t failed_before, const rpc::Method& method,
                     rpc::Context& context);
  // The same for a call that has to wait for something.
  Result<void> wait_to_begin(Turn& turn, std::uint32_t failed_before, const rpc::Method& method,
                             const rpc::Context& context);
  Error refused_cycle(Error error) const;
  Result<void> check_may_wait(const Turn& turn, const rpc::Method& method, bool is_shared) const;
  bool shares_turns(std::string_view method) const;
  const ObjectCell* cell_of(const CallChain::Link& caller) const;
  // Serves a method that replies with a stream.
  Result<void> stream(Turn& turn, Letter& letter, const rpc::Method& method,
                      const google::protobuf::Message& request, rpc::Context& context,
                      rpc::Messages& sink);
  // `stream` is `sink` for such a method, else null.
  Result<void> invoke(Turn& turn, const rpc::Method& method,
                      const google::protobuf::Message& request, rpc::Context& context,
                      rpc::Messages& sink, MessagePipe* stream);
  // What a call with a remembered request id replies; nothing when it has not been made before.
  std::optional<Result<void>> reply_again(Turn& turn, const rpc::Method& method,
                                          const rpc::RequestId& request_id, rpc::Messages& sink);
  // The error of a call whose handler has failed, when it may leave.
  Error after_failure(Turn& turn, Gate& gate, const ObjectCell::Handler& handler,
                      const rpc::Method& method, const rpc::Context& context, Error error);
  Error thrown(const ObjectCell& cell, std::string_view where, const std::string& what);
  static Turn& turn_of(const ObjectCell& cell);
  // Marks a change that was made through a reference which was kept over a write.
  void mark_unmarked_change(ObjectCell& cell, std::string_view where);
  // Called right before a reply. Its debug log lines, together with those of other nodes, prove
  // that there was one owner at a time (tools/chaos).
  // Without a lease it needs another proof.
  bool may_reply(const ObjectCell& cell, const rpc::RequestId& request_id, Proof proof) {
    if (log_.writes(LogLevel::debug) || surroundings_.witness != nullptr) [[unlikely]] {
      return may_reply_and_tell(cell, request_id, proof);
    }
    return may_reply(cell, proof);
  }
  static bool may_reply(const ObjectCell& cell, Proof proof) {
    return proof == Proof::lease ? cell.is_owned_under_lease() : cell.is_owned();
  }
  bool may_reply_and_tell(const ObjectCell& cell, const rpc::RequestId& request_id, Proof proof);
  // The same, and asks the store for the proof that is missing. `is_stored`: it has just accepted a
  // write of the object. Suspends without a lease.
  Result<void> check_may_reply(ObjectCell& cell, const rpc::RequestId& request_id, bool is_stored);
  Error late(const ObjectCell& cell, const rpc::Context& context) const;
  void end_turn(ObjectCell& cell) {
#ifndef NDEBUG
    if (!cell.type().is_transient()) mark_unmarked_change(cell, cell.type().name());
#endif
    cell.end_turn();
    if (cell.is_changed() && cell.is_active()) saver_.changed(cell);
  }
  void end_last_visit(ObjectCell& cell);
  void end_quiet_visit(ObjectCell& cell);

  bool has_too_many_unsaved() const { return saver_.count() >= options_.unsaved_count_max; }
  Result<void> save_for_reply(ObjectCell& cell, const rpc::Method& method);
  static Error not_stored(Error error, const rpc::Method& method);
  // Begins the shared write of that cell, unless one is under way: the next one follows it.
  void write_soon(ObjectCell& cell);
  Result<void> save(ObjectCell& cell, Deadline deadline);
  void save_or_warn(ObjectCell& cell, Deadline deadline);
  ObjectSaver::Writing begin_writing(ObjectCell& cell);
  AlarmRunner::Run begin_run(std::shared_ptr<Alarm> alarm);
  template <typename F>
  Result<void> run_unasked(Turn& turn, const std::string& label, F&& work);
  void let_idle_go();
  void let_leave(const std::vector<ObjectCell*>& going);
  void forget_rows();
  void measure_loads();
  bool is_owned_here(Partition partition) const;
  // Deactivates an object that asked for it, if no call has come meanwhile.
  void deactivate_soon(ObjectCell& cell);
  // All cells of all types.
  std::vector<ObjectCell*> cells() const;
  Duration idle_time_max(const HostedType& type) const {
    return type.options().idle_time_max.value_or(options_.idle_time_max);
  }
  std::uint32_t mailbox_max(const HostedType& type) const {
    return type.options().mailbox_max.value_or(options_.mailbox_max);
  }
  std::vector<ObjectCell*> take_idle(HostedType& type, std::size_t& look_count);
  void let_go(Leaving& leaving, Deadline deadline);
  Result<void> deactivate(ObjectCell& cell, Deadline turn_by, Deadline stored_by,
                          bool releases = true);
  bool drop_stale(ObjectCell& cell, Deadline deadline);
  void drop_soon(ObjectCell& cell);
  // Releases its abandoned seal, in a task and turn of its own: the caller may be cancelled.
  void release_soon(ObjectCell& cell);
  // Runs `act` on some cells at a time; returns the first failure.
  template <typename F>
  Result<void> for_each(const std::vector<ObjectCell*>& cells, F&& act);
  void note_failure(ObjectCell& cell);
  void note_size(ObjectCell& cell, std::size_t bytes);

  const ObjectCell::Surroundings surroundings_;
  Log& log_;
  Options options_;
  std::vector<std::unique_ptr<HostedType>> types_;
  std::map<std::string, rpc::Method, std::less<>> foreign_methods_;  // By name.
  std::uint64_t last_outbox_number_ = 0;
  std::size_t shared_write_count_ = 0;  // Cells that have a writer.
  // A handler that has seen what could not be stored has ended by then.
  TimePoint shared_writes_failed_until_{};
  std::set<Released> released_;  // Moving partitions.
  std::size_t waiting_for_move_count_ = 0;
  coroutine::Event move_decided_{"the new owner of an object"};
  coroutine::Event ownership_changed_{"the owner of an object"};
  std::size_t memory_bytes_ = 0;
  LongWaits long_waits_;
  mutable std::uint64_t refused_cycle_count_ = 0;
  mutable TimePoint cycle_told_at_{};
  ObjectSaver saver_;
  AlarmRunner alarms_;
  ReminderWatch reminders_;
  coroutine::TaskGroup housekeeping_;
  coroutine::TaskGroup followers_;
};

}  // namespace corolane::framework::detail
