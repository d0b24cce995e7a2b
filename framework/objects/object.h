// SPDX-License-Identifier: MIT
// Objects: players, rooms, guilds. Each has an id and a state, and is active in one place at most.
//
//   service Counter {
//     option (corolane.object).state = "CounterState";
//     rpc Add(AddRequest) returns (AddReply) { option (corolane.method).durable = true; }
//     rpc Get(GetRequest) returns (GetReply) { option (corolane.method).read_only = true; }
//   }
//
//   class Counter : public CounterObject {
//     Result<AddReply> add(const AddRequest& request, rpc::Context&) override {
//       change().set_value(state().value() + request.amount());
//       return reply_with(state());
//     }
//     Result<GetReply> get(const GetRequest&, rpc::Context&) const override { ... }
//   };
//
//   node.host<Counter>();                                       // In main.
//   auto added = CounterClient(router, "visits").add(request);  // Anywhere.
//
// An object is made, sealed and loaded on its first call, and deactivated when it has not been
// called for a while. It runs one call at a time, in the order in which they came, so a handler may
// suspend in the middle of a change; read_only calls overlap with each other. A call that would
// come back into an object that waits for it is refused.
//
// A method may reply with a stream (`returns (stream Move)`, read by an ObjectReader). While its
// reader is too far behind, write() gives the turn away: afterwards the state may have changed.
//
// Changes are stored before the reply of a durable method, and otherwise within a second. When the
// handler of a durable method fails, state, reminders, outbox and publications become what they
// were when it began, or after its last save() or wait. The members of the class are its own
// business.
//
// The store keeps an object until it is destroyed; then the next call finds a new one. An object
// that was never changed leaves nothing in the store.
//
// A call with a request id (rpc::CallOptions) takes effect once, however often it is made: the
// object remembers the last call of each caller for ten minutes, with its reply, and stores that
// with its state. A call that has failed, and whose change stays, is remembered, too: its retry
// fails with failed_precondition. It remembers 4,096 callers; while it has no room for one more,
// the call of a new caller fails with resource_exhausted, and nothing of it is executed.
//
// An object may have timers while it is active (object_timers.h), and reminders that wake it up
// (object_reminders.h). It may publish events, and follow the events of other objects
// (subscription.h).
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/alarms/object_reminders.h"
#include "framework/alarms/object_timers.h"
#include "framework/objects/following.h"
#include "framework/push/publication.h"
#include "framework/push/subscription.h"
#include "framework/time/wall_clock.h"
#include "rpc/service.h"

namespace corolane::framework {

class Router;

namespace detail {
class ObjectCell;
class ObjectHost;
}  // namespace detail

// The description of an object type that the cluster uses: generated, with CounterObject.
struct ObjectType {
  const char* name;  // "package.Counter".
  std::span<const rpc::Method> methods;
  std::span<const rpc::SymbolComment> comments;
};

// The base of objects of all types. Belongs to the thread of its shard.
class ObjectBase : public rpc::Service {
 public:
  // Valid from on_activate() on, as all of these.
  const std::string& id() const;

  // The first and the last function that run, in the object's turn: calls wait until they return.
  // An error of on_activate() fails all calls that waited for it; the next call tries again. It is
  // cancelled at the deadline of the call that it runs for, and on_deactivate() after a second.
  // on_deactivate() is not called when the node has already lost the object. While its partition is
  // handed over to another node, its calls of objects that move along fail at once.
  virtual Result<void> on_activate() { return {}; }
  virtual void on_deactivate() {}
  // Runs when a reminder is due, in the object's exclusive turn. After an error it is called again.
  // It is cancelled after half a minute.
  virtual Result<void> on_reminder(const Reminder&) { return {}; }

 protected:
  // The epoch of the ownership under which it is active: greater with each owner. Who is spoken to
  // by other ways than a router may remember it, and refuse what comes under an earlier one.
  std::uint64_t epoch() const;
  // Calls other objects.
  Router& router() const;
  // Calls other objects when the changes of this turn are stored, together with them: nothing is
  // called when they are not.
  //   COROLANE_TRY(PlayerClient(outbox(), name).reward(gold));
  // Each call is delivered until it is acknowledged, once, whatever crashes or moves meanwhile; the
  // calls of one object in order. An error of its handler is no acknowledgment: the call is
  // repeated, first after a second, later each minute, and the calls of that object behind it
  // wait. The reply that the caller gets here is empty, so the method must have an empty one, and
  // be durable. Fails with invalid_argument for other methods, and with resource_exhausted when
  // 1,024 calls, or 256 KiB of them, are not delivered yet. Transient objects have no outbox.
  Router& outbox();
  // The calls that are not acknowledged yet. They are lost when the object is destroyed.
  std::size_t outbox_size() const;
  // Timers that run while the object is active.
  ObjectTimers timers();
  // Reminders that wake the object at a time of day. Transient objects (host_options.h) have none.
  ObjectReminders reminders();
  const WallClock& wall_clock() const;
  // Gives up the turn until `predicate` is true, and takes one again: state that was read before
  // may have changed. The predicate is asked at once, and at the end of each turn that may have
  // changed the object; so it must not suspend. False: the deadline has passed first. Any error
  // means that the call is over, in whatever way: return it. For handlers, timers and followers, in
  // their own task. When node.objects.mailbox_max calls that may change the object wait already,
  // this fails with resource_exhausted. A read_only call continues on the next node when the object
  // moves.
  Result<bool> wait_until(const std::function<bool()>& predicate,
                          Deadline deadline = Deadline::never()) const;
  // Runs `work` without the turn, and takes one again: for calls of others that may take long or
  // call back, and for events of others. Returns what `work` returns, a Result. It is cancelled at
  // the deadline, and when the object leaves this node.
  //   auto reply = outside([&] { return BankClient(router(), name).pay(bill); }, deadline);
  // Fails as wait_until(); and with deadline_exceeded, in a turn again, when `work` has not
  // succeeded by the deadline.
  template <typename F>
  std::invoke_result_t<F&> outside(F work, Deadline deadline = Deadline::never()) const {
    std::optional<std::invoke_result_t<F&>> result;
    auto back = run_outside([&] { result.emplace(work()); }, deadline);
    const bool is_late = !back && back.error().code() == Code::deadline_exceeded;
    if (back || (is_late && result && *result)) return *std::move(result);
    return back.error();
  }
  // Stores changes now, rather than within a second. Suspends, in the object's turn. Fails as
  // Store::write(); the write is retried later.
  Result<void> save();
  // Ends the object when this turn ends: the store forgets its state and its reminders, which is
  // stored before the reply of this call, and within a second when nothing is replied. The next
  // call finds a new object with an empty state. Handlers that wait without a turn end as when the
  // object leaves this node. on_deactivate() is not called. Request ids are remembered as always,
  // so a call that destroys its object takes effect once, too.
  void destroy();
  // Deactivates the object as soon as no call is inside or waits, rather than when it has been idle
  // for long: for objects whose work is done. The next call activates it again.
  void deactivate();
  // Calls `handler` with each publication of `subscription`, in turns of this object, in order:
  //   room_ = *follow(RoomClient(router(), "lobby").subscribe(),
  //                   [this](const Result<Publication<RoomEvent>>& event) { ... });
  // This lasts until the Following is destroyed or the object is deactivated; on_activate() may
  // begin it again. An error is the last event. The handler may suspend: later events wait within
  // the bounds of the subscription, not in the mailbox. Events keep an object active as calls do.
  // It has a stack only while there is something to handle, and waits when there is none; so it
  // begins in any case.
  template <typename T, typename F>
  Result<Following> follow(Subscription<T> subscription, F handler) {
    return begin_following(
        std::move(subscription.reader_),
        [handler = std::move(handler)](const Result<detail::Published>& next) mutable {
          handler(next ? Result<Publication<T>>(Publication<T>(*next)) : next.error());
        });
  }

 private:
  friend class detail::ObjectCell;
  template <typename State>
  friend class Object;
  template <typename State, typename Event>
  friend class PublishingObject;

  // Implements PublishingObject::publish() and position(). A message that nobody would read may be
  // null.
  Result<void> run_outside(const std::function<void()>& work, Deadline deadline) const;
  bool is_followed() const;
  void publish_message(std::shared_ptr<const google::protobuf::Message> message);
  Position published() const;
  Result<Following> begin_following(
      detail::Broadcast::Reader reader,
      std::move_only_function<void(const Result<detail::Published>&)> handler);
  virtual google::protobuf::Message& state_message() = 0;
  void begin_change();

  detail::ObjectCell* cell_ = nullptr;
};

template <typename State>
class Object : public ObjectBase {
 protected:
  const State& state() const { return state_; }
  // The state, to be modified: it will be stored. Good until the handler suspends; afterwards call
  // change() again.
  State& change() {
    begin_change();
    return state_;
  }

 private:
  google::protobuf::Message& state_message() final { return state_; }

  State state_;
};

}  // namespace corolane::framework
