// SPDX-License-Identifier: MIT
// Objects that publish: rooms, guilds, markets. subscription.h describes subscribers and their
// uses.
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
  // Publishes to all subscribers, in order, in the object's turn. Never suspends; its cost does not
  // depend on the number of subscribers or on how fast they read. Events that a durable method
  // publishes between its last wait and its reply are held back until the state is stored.
  // Other events, like other replies, may be seen before the changes they report are stored. When
  // the node has lost the object the event is dropped.
  void publish(Event event) {
    this->publish_message(this->is_followed() ? std::make_shared<const Event>(std::move(event))
                                              : nullptr);
  }

  // The position of the last publication: a reply with a full picture carries it, so that
  // subscribers know which publications the picture includes.
  Position position() const { return this->published(); }
};

}  // namespace corolane::framework
