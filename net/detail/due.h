// SPDX-License-Identifier: MIT
// Work that the loop does at the end of a turn, before it waits: sockets whose output is collected.
#pragma once

#include <cstddef>
#include <limits>

namespace corolane::net::detail {

class Due {
 public:
  // May destroy this object.
  virtual void end_turn() = 0;

  // Its index in the loop's list until then.
  static constexpr std::size_t not_due = std::numeric_limits<std::size_t>::max();
  std::size_t due_index = not_due;

 protected:
  ~Due() = default;
};

}  // namespace corolane::net::detail
