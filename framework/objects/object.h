// Objects: players, rooms, guilds. Each has an id and a state, and is alive in one place at most.
//
//   service Counter {
//     option (corolane.object).state = "CounterState";
//     rpc Add(AddRequest) returns (AddReply) { option (corolane.method).durable = true; }
//     rpc Get(GetRequest) returns (GetReply) { option (corolane.method).read_only = true; }
//   }
//
//   class Counter : public CounterObject {
//     Result<AddReply> add(const AddRequest& request, rpc::Context&) override {
//       state().set_value(state().value() + request.amount());
//       ...
//     }
//     Result<GetReply> get(const GetRequest&, rpc::Context&) const override { ... }
//   };
//
//   main:     node.host<Counter>();
//   anywhere: CounterClient(router, "visits").add(request);
//
// An object is made, sealed and loaded when it is called for the first time, and goes when nobody
// has called it for a while. One call at a time runs in it, in the order in which they came, so a
// handler may suspend in the middle of a change; those that are read_only overlap with each other.
// A call that would come back into an object that waits for it is refused.
//
// What changed is stored before the reply of a durable method, and otherwise within a second. A
// handler that fails takes nothing back of what it changed.
//
// A call with a request id (rpc::CallOptions) takes effect once, however often it is made: the
// object remembers the last one of each caller for ten minutes, with its reply, and stores that
// with its state. It remembers 4,096 callers; while it has no room for one more, the call of a new
// caller fails with resource_exhausted, and nothing of it is executed.
//
// An object may have timers as long as it is alive (object_timers.h), and reminders that wake it up
// (object_reminders.h). It may publish what happens to it, and follow what others publish
// (subscription.h).
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
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

// What the cluster knows of objects of one type: generated, with CounterObject.
struct ObjectType {
  const char* name;  // "package.Counter".
  std::span<const rpc::Method> methods;
  std::span<const rpc::SymbolComment> comments;
};

// What is common to objects of all types. Belongs to the thread of its shard.
class ObjectBase : public rpc::Service {
 public:
  // Valid from on_activate() on, as all of these.
  const std::string& id() const;

  // The first and the last that run, in the object's turn: whatever they do, calls wait. An error
  // of on_activate() is that of all calls that waited for it; the next call tries again. When the
  // node has lost the object already on_deactivate() is not called.
  virtual Result<void> on_activate() { return {}; }
  virtual void on_deactivate() {}
  // The time of one of its reminders has come. In the object's exclusive turn; after an error it
  // comes again.
  virtual Result<void> on_reminder(const Reminder&) { return {}; }

 protected:
  // The way to other objects.
  Router& router() const;
  // What it does by the clock while it is alive.
  ObjectTimers timers();
  // What it does at a time of day, and is woken for.
  ObjectReminders reminders();
  // The time of day.
  const WallClock& wall_clock() const;
  // Gives the turn to other calls until `event` is set or pulsed, and takes one again: what was
  // read before may be different then. For handlers, timers and what it follows, in their own task.
  // Fails with deadline_exceeded, in a turn again; with resource_exhausted, still in its turn, when
  // node.objects.mailbox_max calls that may change the object wait so already; without one with
  // cancelled, and with aborted when the object leaves this node: then leave the state alone and
  // return that error, and a read_only call goes on where the object is then.
  Result<void> wait_for(coroutine::Event& event, Deadline deadline) const;
  // Stores what has changed now, rather than within a second. Suspends, in the object's turn. Fails
  // as Store::write(), and is tried again later.
  Result<void> save();
  // Calls `handler` with each publication of `subscription`, in turns of this object, in order:
  //   room_ = *follow(RoomClient(router(), "lobby").subscribe(),
  //                   [this](const Result<Publication<RoomEvent>>& event) { ... });
  // Until the Following is destroyed or this object goes; on_activate() may begin it again. An
  // error is the last to come. The handler may suspend: what comes meanwhile waits in the bounds of
  // the subscription, and not in the mailbox. What it hears keeps an object alive as calls do.
  // Fails with resource_exhausted when there is no stack for it.
  template <typename T, typename F>
  Result<Following> follow(Subscription<T> subscription, F handler) {
    return begin_following(
        std::move(subscription.reader_),
        [handler = std::move(handler)](const Result<detail::Published>& next) mutable {
          handler(next ? Result<Publication<T>>(Publication<T>(*next)) : next.error());
        });
  }
  // Tells that state() was changed; asking for it to change it does so as well.
  void mark_changed();

 private:
  friend class detail::ObjectCell;
  template <typename State, typename Event>
  friend class PublishingObject;

  // PublishingObject::publish(), position(). A message that nobody would read may be null.
  bool is_followed() const;
  void publish_message(std::shared_ptr<const google::protobuf::Message> message);
  Position published() const;
  Result<Following> begin_following(
      detail::Broadcast::Reader reader,
      std::move_only_function<void(const Result<detail::Published>&)> handler);
  virtual google::protobuf::Message& state_message() = 0;

  detail::ObjectCell* cell_ = nullptr;
};

template <typename State>
class Object : public ObjectBase {
 protected:
  // To be changed. A reference that is kept over a suspension changes without being stored: ask
  // again.
  State& state() {
    mark_changed();
    return state_;
  }
  // What read_only methods see.
  const State& state() const { return state_; }

 private:
  google::protobuf::Message& state_message() final { return state_; }

  State state_;
};

}  // namespace corolane::framework
