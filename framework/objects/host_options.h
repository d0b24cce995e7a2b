// SPDX-License-Identifier: MIT
// How a node hosts the objects of one type.
//
//   node.host<Chat>({.transient = true});
//   node.host<Match>({.placement = {.role = "match"}});
#pragma once

#include "framework/cluster/cluster_view.h"

namespace corolane::framework {

struct HostOptions {
  // The nodes that may host them.
  Placement placement = {};
  // Objects that live in memory only, such as lobbies, chats and running matches. They are neither
  // sealed nor stored: an activation and a change cost nothing, and when an object is deactivated
  // or its node crashes, its state and its request ids are gone. One node owns each of them as
  // always, by its lease alone. They have no durable methods, and setting a reminder fails.
  bool transient = false;
};

}  // namespace corolane::framework
