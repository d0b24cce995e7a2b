// The place of one object on its shard: the object while it is alive, whose turn it is, and what it
// has in the store.
//
// Life: a cell is made by the first call. In its exclusive turn the object is activated: sealed in
// the store with the epoch of our ownership, loaded, told so. It serves, and is saved. It is
// deactivated when it was idle for long, when its partition moves, or dropped when the store says
// that a later owner has it. A cell without object and visitors goes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sub_task.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/shared_mutex.h"
#include "framework/alarms/detail/object_alarms.h"
#include "framework/cluster/ownership.h"
#include "framework/cluster/seeded_bugs.h"
#include "framework/cluster/witness.h"
#include "framework/objects/detail/follower.h"
#include "framework/objects/detail/object_history.h"
#include "framework/objects/detail/object_visitor.h"
#include "framework/objects/detail/request_ledger.h"
#include "framework/objects/object.h"
#include "framework/push/detail/topic.h"
#include "framework/store/store.h"
#include "framework/time/wall_clock.h"
#include "framework/wire/partition.h"

namespace corolane::framework::detail {

class HostedType;
class ObjectRouter;

// What a call takes room in: see ObjectHost::Options::mailbox_max.
enum class MailboxPart : std::uint8_t { writers, readers, waiting_writers };

class ObjectCell {
 public:
  class Handler;

  // What a cell needs of its host.
  struct Surroundings {
    Store& store;
    ObjectRouter& router;
    WallClock clock = {};
    Witness* witness = nullptr;  // Null outside of a simulation; outlives it.
    SeededBugs bugs = {};
  };

  ObjectCell(HostedType& type, std::string_view id, Partition partition,
             const Surroundings& surroundings)
      : type_(type), id_(id), partition_(partition), surroundings_(surroundings) {}
  ObjectCell(const ObjectCell&) = delete;
  ObjectCell& operator=(const ObjectCell&) = delete;

  const std::string& id() const { return id_; }
  HostedType& type() const { return type_; }
  Partition partition() const { return partition_; }
  Router& router() const;
  ObjectKey key() const;

  // That of an object which is active.
  static ObjectCell& of(ObjectBase& object) { return *object.cell_; }

  // Whose turn it is. The rest is for those who have it; shared turns only read.
  coroutine::SharedMutex& turn() { return turn_; }
  bool is_active() const { return object_ != nullptr && !is_lost_; }
  // Active, and under the ownership that there is now. Each call asks: in hosted_type.h, inline.
  inline bool is_current() const;
  ObjectBase& object() const { return *object_; }
  RequestLedger& ledger();
  ObjectAlarms& alarms();
  const WallClock& wall_clock() const { return surroundings_.clock; }

  // Seals, loads and tells the object. Suspends. In the exclusive turn, when it is not active.
  // Fails with what moved_error() makes when the object is another one's; as Store::seal() does;
  // with data_loss when what is stored is no such state; as on_activate() does.
  Result<void> activate(Deadline deadline);
  // An activation has failed behind its seal, or does not know whether it has sealed. The store
  // would keep that for good, and a client may ask for any number of names.
  bool has_abandoned_seal() const { return has_abandoned_seal_; }
  // Does nothing when there is none, or a later activation has come to its end.
  void release_abandoned_seal(Deadline deadline);
  // Tells it, saves it and lets it go; `releases` its seal, too, when it has written nothing. In
  // the exclusive turn. When saving fails it stays.
  Result<void> deactivate(Deadline deadline, bool releases);
  // Lets it go without a word. Suspends. In the exclusive turn.
  void drop();
  // It is to go: handlers that wait without a turn are told so, before somebody takes the exclusive
  // turn to let it go. False: it stays after all.
  void set_closing(bool is_closing);
  // There is an object that may not serve any more.
  inline bool has_stale_object() const;

  // The handler that runs for a call of that id; null when there is none.
  Handler* find_handler(const rpc::RequestId& request_id) const;
  // What runs in it now, its methods and timers: each is cancelled, since nobody may hear of it.
  void cancel_handlers();

  // A handler waits without a turn, until it has one again or has returned.
  void go_outside() { ++outside_count_; }
  void come_back() {
    if (--outside_count_ == 0) none_outside_.notify_all();
  }
  // Suspends until the event, or until the object is to go.
  Result<void> wait_outside(coroutine::Event& event, Deadline deadline);

  // Of an active one: of the ownership that it serves by, and how often it was stored.
  Ownership::Epoch epoch() const { return epoch_; }
  std::uint64_t version() const { return version_; }

  // Whether somebody may be told now what it knows.
  inline bool is_owned() const;
  Error moved() const;

  void mark_changed();
  bool is_changed() const { return is_changed_; }
  TimePoint changed_since() const { return changed_since_; }
  // Stores what has changed. Suspends. In any turn: nobody may change it meanwhile. Fails as
  // Store::write(); what the store did is found out by the next save(). When another owner has
  // written, the object is lost, which is moved().
  Result<void> save(Deadline deadline);
  // A caller was told that a change may have been made: until it is stored nobody may see it.
  void hide_change() { hides_change_ = true; }
  bool hides_change() const { return hides_change_; }

  // What it publishes: to be followed, in any turn.
  Topic& topic();
  bool is_followed() const { return topic_ != nullptr && topic_->has_readers(); }
  // ObjectBase::publish(), position().
  void publish(Broadcast::Message message);
  Position published() const;
  // Until the end of the turn, or until it is stored, nobody gets what is published.
  void hold_publications() { holds_publications_ = true; }
  // At the end of a turn.
  void release_publications();

  // Stopped when the object goes.
  void add_follower(std::shared_ptr<Follower> follower);

  // Bytes that it takes, about, when it was looked at last: with its id, in all places that it lies
  // in.
  std::size_t size_bytes() const { return size_bytes_; }
  // Looks. Of an active one.
  void measure();

  // For pages. Those who are inside, the last to come first; null when there are none.
  ObjectVisitor*& visitors() { return visitors_; }
  const ObjectVisitor* visitors() const { return visitors_; }
  ObjectHistory& history() { return history_; }
  const ObjectHistory& history() const { return history_; }
  // Of one that is active.
  TimePoint active_since() const { return active_since_; }
  std::size_t state_bytes() const { return object_->state_message().ByteSizeLong(); }
  // What it has to do by the clock; null when there is nothing.
  const ObjectAlarms* known_alarms() const { return alarms_.get(); }
  // Shards that bring it to their subscribers, and objects that it follows.
  std::size_t reader_count() const { return topic_ == nullptr ? 0 : topic_->reader_count(); }
  std::size_t followed_count() const;

  // A handler while it runs, in a part of its task.
  class Handler {
   public:
    // That of a call with that id, if any, which outlives it.
    Handler(ObjectCell& cell, Deadline deadline, const rpc::RequestId& request_id = {})
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
    // For whoever waits for its end, and may outlive it.
    std::shared_ptr<coroutine::Event> ended() {
      if (ended_ == nullptr) ended_ = std::make_shared<coroutine::Event>("the same request");
      return ended_;
    }

   private:
    friend class ObjectCell;

    coroutine::SubTask part_;
    const rpc::RequestId request_id_;
    std::shared_ptr<coroutine::Event> ended_;
    Handler* next_;
    Handler** link_;
  };

  // Calls in that part of its mailbox.
  std::uint32_t& letters(MailboxPart part) { return letters_[static_cast<std::size_t>(part)]; }

  // For its host. Nobody is inside:
  bool is_idle() const { return visitor_count == 0; }
  std::uint32_t visitor_count = 0;
  std::uint32_t quiet_visitor_count = 0;
  std::uint32_t failed_activation_count = 0;
  std::uint32_t counted_bytes = 0;  // In the sums of its host; of a larger one no more.
  std::optional<Error> activation_error;
  TimePoint used_at{};
  std::list<ObjectCell*>::iterator place;  // Among all of the host.
  std::size_t place_in_partition = 0;
  TimePoint save_at{};  // When it waits to be saved.
  TimePoint save_not_before{};
  std::optional<std::list<ObjectCell*>::iterator> unsaved_place;

 private:
  template <typename F>
  Result<void> run_hook(const char* name, F&& hook);
  Result<void> load(const StoredObject& stored);
  Result<void> write(Deadline deadline);
  Result<void> find_out_version(Deadline deadline);
  std::string serialise();
  std::optional<WallTime> wake_at() const;
  bool may_release_seal() const;
  void abandon_seal(Ownership::Epoch epoch);
  void release_seal(Deadline deadline);
  void release_held();
  void end_publishing();

  HostedType& type_;
  const std::string id_;
  const Partition partition_;
  bool is_changed_ = false;
  bool is_lost_ = false;
  bool hides_change_ = false;
  bool version_is_unsure_ = false;
  bool has_written_ = false;  // Since it was loaded.
  bool has_abandoned_seal_ = false;
  bool holds_publications_ = false;
  const Surroundings& surroundings_;
  coroutine::SharedMutex turn_;
  std::unique_ptr<ObjectBase> object_;
  Ownership::Epoch epoch_ = 0;  // Of the object, or of the seal that is abandoned.
  std::uint64_t version_ = 0;
  TimePoint changed_since_{};
  bool is_closing_ = false;
  std::vector<coroutine::Event*> awaited_;  // By handlers without a turn.
  coroutine::WaitQueue none_outside_{"handlers of an object"};
  std::uint32_t outside_count_ = 0;
  std::array<std::uint32_t, 3> letters_ = {};
  Handler* handlers_ = nullptr;
  ObjectVisitor* visitors_ = nullptr;
  TimePoint active_since_{};
  ObjectHistory history_;
  std::unique_ptr<RequestLedger> ledger_;  // Null while it is empty.
  std::unique_ptr<ObjectAlarms> alarms_;   // Null while there are none. Gone before the object.
  std::unique_ptr<Topic> topic_;           // Null before somebody asks for it.
  std::vector<std::shared_ptr<Follower>> followers_;
  std::size_t size_bytes_ = 0;
};

}  // namespace corolane::framework::detail
