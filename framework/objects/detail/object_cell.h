// SPDX-License-Identifier: MIT
// The place of one object on its shard: the object while it is alive, its turns, and its state in
// the store.
//
// Life cycle: the first call creates the cell. In its exclusive turn the object is activated: it is
// sealed in the store with the epoch of our ownership, loaded, and notified by on_activate(). It
// serves and is saved. It is deactivated when it was idle for long or its partition moves, and
// dropped when the store reports a later owner, or has a tombstone in its place. A cell without
// object and visitors is removed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/cancel_scope.h"
#include "coroutine/cpu_time.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/shared_mutex.h"
#include "framework/cluster/ownership.h"
#include "framework/cluster/witness.h"
#include "framework/objects/detail/follower.h"
#include "framework/objects/detail/object_alarms.h"
#include "framework/objects/detail/object_history.h"
#include "framework/objects/detail/object_visitor.h"
#include "framework/objects/detail/owners.h"
#include "framework/objects/detail/request_ledger.h"
#include "framework/objects/detail/undo_point.h"
#include "framework/objects/object.h"
#include "framework/push/detail/topic.h"
#include "framework/store/store.h"
#include "framework/time/wall_clock.h"
#include "framework/wire/partition.h"

namespace corolane::rpc {
class Tracer;
}

namespace corolane::framework::detail {

class HostedType;

// The part of the mailbox that a call occupies: see ObjectHost::Options::mailbox_max.
enum class MailboxPart : std::uint8_t { writers, readers, waiting_writers };

class ObjectCell;

// The keys are the times at which the objects are to be written.
using UnsavedObjects = std::multimap<TimePoint, ObjectCell*>;

class ObjectCell {
 public:
  class Handler;

  // The name of the hook that runs while the object leaves.
  static constexpr const char* last_hook = "on_deactivate";
  // What introspection calls the lock of the turns.
  static constexpr const char* turn_name = "turn of the object";
  static constexpr const char* change_name = "a change of the object";
  // After that it is cancelled: calls wait for its end.
  static constexpr Duration last_hook_time_max = std::chrono::seconds(1);

  // Dependencies that the host provides.
  struct Surroundings {
    Store& store;
    Owners& owners;
    WallClock clock = {};
    Witness* witness = nullptr;     // Null outside of a simulation; outlives it.
    rpc::Tracer* tracer = nullptr;  // Null: waits have no spans; outlives it.
  };

  ObjectCell(HostedType& type, std::string_view id, Partition partition,
             const Surroundings& surroundings)
      : type_(type), id_(id), partition_(partition), surroundings_(surroundings) {}
  ObjectCell(const ObjectCell&) = delete;
  ObjectCell& operator=(const ObjectCell&) = delete;

  const std::string& id() const { return id_; }
  HostedType& type() const { return type_; }
  Partition partition() const { return partition_; }
  // What its calls have computed since it came into memory.
  coroutine::CpuTime cpu;
  Router& router() const;
  ObjectKey key() const;

  // The cell of an active object.
  static ObjectCell& of(ObjectBase& object) { return *object.cell_; }

  // The turns of the object. The rest of the interface requires a turn; shared turns only read.
  coroutine::SharedMutex& turn() { return turn_; }
  bool is_active() const { return object_ != nullptr && !is_lost_; }
  // Active, and activated under the present ownership. Checked by each call, hence inline, in
  // hosted_type.h.
  inline bool is_current() const;
  ObjectBase& object() const { return *object_; }
  // The ledger that has calls of that scope.
  RequestLedger& ledger(const rpc::RequestId& id);
  ObjectAlarms& alarms();
  const WallClock& wall_clock() const { return surroundings_.clock; }
  rpc::Tracer* tracer() const { return surroundings_.tracer; }

  // Seals and loads the object and calls on_activate(). Suspends. Requires the exclusive turn and
  // an inactive object. Fails with moved_error() when another node owns the object, as
  // Store::seal(), with data_loss when the stored state cannot be parsed, or as on_activate().
  Result<void> activate(Deadline deadline);
  // An activation has failed after its seal, or its seal has an unknown outcome. The store would
  // keep the seal forever, and a client may ask for any number of names.
  bool has_abandoned_seal() const { return has_abandoned_seal_; }
  // Does nothing when there is no such seal, or a later activation has succeeded.
  void release_abandoned_seal(Deadline deadline);
  // Calls on_deactivate(), saves the object and drops it; `releases` also releases its seal when it
  // has written nothing. Requires the exclusive turn. When saving fails the object stays. A
  // destroyed object gets no on_deactivate().
  Result<void> deactivate(Deadline deadline, bool releases);
  // Suspends until no handler is without its turn, and no write is shared. False when the deadline
  // passed or the task was cancelled.
  bool wait_until_alone(Deadline deadline);
  // Drops the object without on_deactivate() or saving. Suspends. Requires the exclusive turn.
  void drop();
  // Announces, while it lives, that the object is about to leave: handlers that wait without a turn
  // are told to return, before the host takes the exclusive turn. Tasks that close one object at
  // the same time have one each: what the first cannot store may leave by the second.
  class Closing {
   public:
    explicit Closing(ObjectCell& cell);
    ~Closing();
    Closing(const Closing&) = delete;
    Closing& operator=(const Closing&) = delete;

    // The closing task has the exclusive turn, and will wait for the handlers without one: those
    // that wait for a turn are told to return, too.
    void has_turn();

   private:
    ObjectCell& cell_;
    bool has_turn_ = false;
  };
  // There is an object, and it may no longer serve.
  inline bool has_stale_object() const;

  // The running handler of the call with that id; null when there is none.
  Handler* find_handler(const rpc::RequestId& request_id) const;
  // Cancels the running methods and timers: their results may no longer leave the node.
  void cancel_handlers();

  // Bracket the time that a handler waits without a turn, until it has a turn again or has
  // returned.
  void go_outside() { ++outside_count_; }
  void come_back() {
    if (--outside_count_ == 0) none_outside_.pulse();
  }
  // Suspends until the event, or until the object is about to leave.
  Result<void> wait_outside(coroutine::Event& event, Deadline deadline);
  // Runs `work`, which is cancelled at the deadline and when the object is about to leave.
  Result<void> run_outside(const std::function<void()>& work, Deadline deadline);
  // While it lives, a handler waits for a turn to go on in; that ends when a task that closes the
  // object has the turn.
  class WayBack {
   public:
    explicit WayBack(ObjectCell& cell);
    ~WayBack() { std::erase(cell_.ways_back_, this); }
    WayBack(const WayBack&) = delete;
    WayBack& operator=(const WayBack&) = delete;

    void close() {
      is_closed_ = true;
      part_.cancel();
    }
    bool is_closed() const { return is_closed_; }

   private:
    ObjectCell& cell_;
    coroutine::CancelScope part_;
    bool is_closed_ = false;
  };

  // A handler that waits, without a turn, for something to become true of the object.
  struct Watcher {
    const std::function<bool()>& predicate;
    coroutine::Event came_true{change_name};
  };
  void add(Watcher& watcher) { watchers_.push_back(&watcher); }
  void remove(Watcher& watcher) { std::erase(watchers_, &watcher); }
  // Called at the end of an exclusive turn.
  void wake_watchers() {
    if (!watchers_.empty()) [[unlikely]]
      look_for_watchers();
  }

  // The epoch of the ownership under which an active object serves, and how often it was stored.
  Ownership::Epoch epoch() const { return epoch_; }
  std::uint64_t version() const { return version_; }
  // That of the next write.
  std::uint64_t next_version() const;
  // Grows with each change, and shrinks when one is undone.
  std::uint64_t change_number() const { return change_number_; }

  // Whether its replies and publications may leave the node now.
  inline bool is_owned() const;
  // is_owned() and has_lease(), by one look at the clock.
  inline bool is_owned_under_lease() const;
  Error moved() const;
  // Without a lease the store decides whether they may. Suspends until the store has found our
  // seal. Requires a turn. Fails with moved() when it finds a later one: then the object is lost,
  // and so is all that the node owns. Fails with unavailable for a transient object, which no store
  // knows, and otherwise as Store::seal().
  Result<void> prove(Deadline deadline);
  inline bool has_lease() const;
  inline bool is_transient() const;
  // Its publications wait for a proof.
  bool has_unproven() const {
    return topic_ != nullptr && topic_->has_held() && !has_lease() &&
           !topic_->is_proven(topic_->position());
  }
  // A transient object without a lease serves nothing until there is one.
  bool rests() const { return is_transient() && !has_lease(); }
  Error resting() const;

  void mark_changed();
  bool is_changed() const { return is_changed_; }
  TimePoint changed_since() const { return changed_since_; }
  // Stores a change. Suspends. Requires a turn, so the state cannot change meanwhile. Fails as
  // Store::write(); after an unknown outcome the next save() asks the store. When another owner has
  // written, the object is lost, and this fails with moved(). When the store has lost writes that
  // it had confirmed, the object is lost, too, and this fails with data_loss.
  Result<void> save(Deadline deadline);
  // Durable calls whose changes go to the store in one write, after their turns.
  struct SharedWrite {
    coroutine::Event done{"the store"};
    Result<void> result;  // Valid when it is done.
  };
  // Requires the turn of a durable method that has ended, and ends with it. Calls that are not
  // durable wait for the write, as for a hidden change.
  std::shared_ptr<SharedWrite> join_write();
  bool is_writing() const { return is_writing_; }
  // The writer, a task of its own, calls run_shared_writes() after this.
  void begin_writing() { is_writing_ = true; }
  // Suspends. Each write has that long.
  void run_shared_writes(Duration time_max);
  // Suspends until the changes of all durable calls before are stored. For what leaves the object
  // while such changes are on their way. Fails with unavailable when they could not be stored.
  Result<void> wait_until_stored(Deadline deadline);
  // The next save() stores a tombstone, and then the object is lost. Calls wait for that, as for a
  // hidden change.
  void destroy();
  bool is_destroyed() const { return is_destroyed_; }
  // ObjectBase::deactivate().
  void leave_soon() { wants_to_leave_ = true; }
  bool take_wish_to_leave() { return std::exchange(wants_to_leave_, false); }
  // A caller was told that its change is not stored and may have been made: until it is stored it
  // must not be visible.
  void hide_change() { hides_change_ = true; }
  bool hides_change() const { return hides_change_; }
  // The same for calls of that method: a durable one replies only when all that it has seen is
  // stored, so it may see what is on its way to the store.
  bool hides_change_from(const rpc::Method& method) const {
    return hides_change_ && !(is_writing_ && method.durable && !is_destroyed_);
  }

  // The object's publications, to be followed. Requires a turn.
  Topic& topic();
  bool is_followed() const { return topic_ != nullptr && topic_->has_readers(); }
  // ObjectBase::publish(), position().
  void publish(Broadcast::Message message);
  Position published() const;
  // The turn belongs to a durable method: until its change is stored, or the turn ends, its
  // publications are held back and its changes can be undone.
  void begin_durable_turn();
  // Called at the end of any turn.
  void end_turn() {
    is_durable_turn_ = false;
    if (undo_ != nullptr) [[unlikely]]
      undo_.reset();
    if (topic_ != nullptr && !hides_change_) release_held(published());
  }
  // The durable method of this turn has failed: state, reminders and publications become what they
  // were when the turn began, or at its last save().
  void undo();
  // The durable method of this turn has succeeded: its changes belong to what has ended.
  void keep_changes() {
    undo_.reset();
    if (is_durable_turn_) kept_position_ = published();
  }
  // Whether the state differs from what was stored last, although it is not marked as changed: it
  // was changed through a reference that was kept over a write.
  bool has_unmarked_change();

  // The follower is stopped when the object is dropped.
  void add_follower(std::shared_ptr<Follower> follower);

  // The approximate memory of the object at the last measure(), including its id and its entries in
  // all containers.
  std::size_t size_bytes() const { return size_bytes_; }
  // Updates size_bytes(). Requires an active object.
  void measure();

  // For pages. A list of the present visitors, the latest first; null when there are none.
  ObjectVisitor*& visitors() { return visitors_; }
  const ObjectVisitor* visitors() const { return visitors_; }
  ObjectHistory& history() { return history_; }
  const ObjectHistory& history() const { return history_; }
  // Require an active object.
  TimePoint active_since() const { return active_since_; }
  std::size_t state_bytes() const { return object_->state_message().ByteSizeLong(); }
  const std::vector<std::shared_ptr<Follower>>& followers() const { return followers_; }
  // Its timers and reminders; null before their first use.
  const ObjectAlarms* known_alarms() const { return alarms_.get(); }
  // The number of shards that follow it for their subscribers, and of objects that it follows.
  std::size_t reader_count() const { return topic_ == nullptr ? 0 : topic_->reader_count(); }
  std::size_t followed_count() const;

  // A running handler, as a part of its task.
  class Handler {
   public:
    static constexpr rpc::RequestId no_request_id = {};

    // `request_id` is that of its call, if any, and outlives the handler.
    Handler(ObjectCell& cell, Deadline deadline, const rpc::RequestId& request_id = no_request_id)
        : part_(deadline), request_id_(request_id), next_(cell.handlers_) {
      if (next_ != nullptr) next_->link_ = &next_;
      link_ = &cell.handlers_;
      cell.handlers_ = this;
    }
    ~Handler() {
      *link_ = next_;
      if (next_ != nullptr) next_->link_ = link_;
      if (ended_ != nullptr) ended_->set();
    }
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;

    bool is_cancelled() const { return part_.is_cancelled(); }
    // An event for tasks that wait for its end; they may outlive the handler.
    std::shared_ptr<coroutine::Event> ended() {
      if (ended_ == nullptr) ended_ = std::make_shared<coroutine::Event>("the same request");
      return ended_;
    }

   private:
    friend class ObjectCell;

    coroutine::CancelScope part_;
    const rpc::RequestId& request_id_;
    std::shared_ptr<coroutine::Event> ended_;
    Handler* next_;
    Handler** link_;
  };

  // The number of calls in that part of the mailbox.
  std::uint32_t& letters(MailboxPart part) { return letters_[static_cast<std::size_t>(part)]; }

  // For its host. Without visitors:
  bool is_idle() const { return visitor_count == 0; }
  std::uint32_t visitor_count = 0;
  std::uint32_t quiet_visitor_count = 0;
  std::uint32_t failed_activation_count = 0;
  std::uint32_t counted_bytes = 0;  // Included in the host's sums, capped to this type.
  std::optional<Error> activation_error;
  TimePoint used_at{};
  std::list<ObjectCell*>::iterator place;  // Among all cells of the type.
  std::size_t place_in_partition = 0;
  TimePoint save_not_before{};
  std::optional<UnsavedObjects::iterator> unsaved_place;

 private:
  template <typename F>
  Result<void> run_hook(const char* name, Deadline deadline, F&& hook);
  // The content of one write.
  struct Image {
    std::string bytes;
    std::optional<WallTime> wake_at;
    bool is_tombstone;
    std::uint64_t change_number;
    std::size_t outbox_size;
    Position published;
    bool is_of_turn =
        false;  // With the changes of the running handler, which cannot be undone then.
  };

  Result<void> load(const StoredObject& stored);
  Image image_of_all();
  // Without the changes of a durable handler that still runs.
  Image image_of_ended();
  Result<void> write(const Image& image, Deadline deadline);
  Result<void> wait_for_writer(Deadline deadline);
  Result<void> try_to_write(const Image& image, Deadline deadline);
  bool may_be_called_again() const;
  Result<void> find_out_version(Deadline deadline);
  void note_written(const Image& image);
  std::string serialise(const UndoPoint* earlier);
  void load_requests(const ObjectRecord& record);
  std::size_t ledger_bytes() const;
  void keep_for_undo();
  void look_for_watchers();
  std::optional<WallTime> wake_at() const;
  bool may_release_seal() const;
  void abandon_seal(Ownership::Epoch epoch);
  void release_seal(Deadline deadline);
  Error owned_by_another() const;
  // The span of the next publication; null when the running task has no sampled trace.
  PublicationTrace trace_of(const google::protobuf::Message& message);
  void release_held(Position end);
  void end_publishing();

  HostedType& type_;
  const std::string id_;
  const Partition partition_;
  bool is_changed_ = false;
  bool is_lost_ = false;
  bool is_destroyed_ = false;
  bool wants_to_leave_ = false;
  bool hides_change_ = false;
  bool version_is_unsure_ = false;
  bool may_write_late_ = false;  // A write had an unknown outcome since the load.
  bool has_written_ = false;     // Since the load.
  bool row_is_empty_ = false;    // Never written, or a tombstone: the store may forget it.
  bool has_abandoned_seal_ = false;
  bool is_durable_turn_ = false;
  const Surroundings& surroundings_;
  coroutine::SharedMutex turn_{turn_name, coroutine::SharedMutex::Unobserved()};
  std::unique_ptr<ObjectBase> object_;
  Ownership::Epoch epoch_ = 0;  // The object's, or its abandoned seal's.
  std::uint64_t version_ = 0;
  TimePoint changed_since_{};
  std::uint32_t closing_count_ = 0;
  bool is_closed_ = false;                  // A task that closes it has the turn.
  std::vector<coroutine::Event*> awaited_;  // Awaited by handlers without a turn.
  std::vector<coroutine::CancelScope*> outside_work_;
  std::vector<WayBack*> ways_back_;
  std::vector<Watcher*> watchers_;
  coroutine::Event none_outside_{"handlers of an object"};
  std::uint32_t outside_count_ = 0;
  std::array<std::uint32_t, 3> letters_ = {};
  Handler* handlers_ = nullptr;
  ObjectVisitor* visitors_ = nullptr;
  TimePoint active_since_{};
  ObjectHistory history_;
  std::unique_ptr<RequestLedger> ledger_;         // Null while it is empty.
  std::unique_ptr<RequestLedger> outbox_ledger_;  // For calls from outboxes.
  std::unique_ptr<ObjectAlarms> alarms_;          // Null while there are none. Destroyed before the
                                                  // object.
  // Fields of its record that this build does not know, encoded: a later build has stored them, and
  // each write keeps them for it. Null when there are none.
  std::unique_ptr<const std::string> unknown_fields_;
  std::unique_ptr<Topic> topic_;     // Created on demand.
  std::unique_ptr<UndoPoint> undo_;  // In a durable turn, from its first change on.
  Position kept_position_;           // In a durable turn: undo() goes back to it.
  std::size_t stored_hash_ = 0;      // The hash of the state that was written last.
  std::uint64_t change_number_ = 0;
  std::shared_ptr<SharedWrite> next_write_;  // Durable calls wait for it.
  bool is_writing_ = false;                  // A task runs the shared writes.
  coroutine::Event write_ended_{"the store"};
  std::vector<std::shared_ptr<Follower>> followers_;
  std::size_t size_bytes_ = 0;
};

}  // namespace corolane::framework::detail
