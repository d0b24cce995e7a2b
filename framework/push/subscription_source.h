// SPDX-License-Identifier: MIT
// The origin of subscriptions: a router, which finds the object that publishes.
//
//   Subscription<Event> events(source, "chess.Room", "17");
#pragma once

#include <string>
#include <string_view>

#include "framework/push/detail/broadcast.h"

namespace corolane::framework {

class SubscriptionSource {
 public:
  // Reads the publications of an object, for Subscription (subscription.h). Messages have the type
  // of `prototype`, which is never destroyed. Never suspends.
  virtual detail::Broadcast::Reader subscribe(std::string_view type, const std::string& id,
                                              const google::protobuf::Message& prototype) = 0;

 protected:
  ~SubscriptionSource() = default;
};

}  // namespace corolane::framework
