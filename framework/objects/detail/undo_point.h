// SPDX-License-Identifier: MIT
// What an object looked like before the first change of a durable handler. When the handler fails,
// the object becomes that again.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "framework/time/wall_clock.h"
#include "framework/wire/objects.pb.h"

namespace corolane::framework::detail {

struct UndoPoint {
  std::unique_ptr<google::protobuf::Message> state;
  ObjectRecord alarms;  // Its reminders alone.
  std::size_t outbox_size = 0;
  std::optional<WallTime> wake_at = {};
  std::uint64_t change_number = 0;
  bool was_changed = false;
  bool was_destroyed = false;
  bool hid_change = false;
};

}  // namespace corolane::framework::detail
