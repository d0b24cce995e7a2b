// Objects that publish: rooms, guilds, markets. Who subscribes to them, and what for, is in
// subscription.h.
//
//   service Room {
//     option (corolane.object) = {state: "RoomState" publishes: "RoomEvent"};
//     ...
//   }
//
//   Result<SayReply> Room::say(const SayRequest& request, rpc::Context&) {
//     ...
//     publish(said(request));
//   }
#pragma once

#include <memory>
#include <utility>

#include "framework/objects/object.h"
#include "framework/push/publication.h"

namespace corolane::framework {

template <typename State, typename Event>
class PublishingObject : public Object<State> {
 protected:
  // To all subscribers, behind what was published before. In the object's turn. Never suspends, nor
  // does it matter how many there are or how fast they read. What a durable method publishes
  // between its last wait_for() and its reply nobody gets before the state is stored; anything else
  // may be known before what it tells of is stored, as a reply may. When the node has lost the
  // object nobody gets it.
  void publish(Event event) {
    this->publish_message(this->is_followed() ? std::make_shared<const Event>(std::move(event))
                                              : nullptr);
  }

  // Of what was published last: for replies that show all there is to see, so that subscribers know
  // what of their publications is in there.
  Position position() const { return this->published(); }
};

}  // namespace corolane::framework
