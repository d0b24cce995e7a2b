// SPDX-License-Identifier: MIT
// Storage for a value whose owner knows without a flag whether it exists.
#pragma once

#include <memory>
#include <utility>

namespace corolane::coroutine::detail {

template <typename T>
union Slot {
  Slot() {}
  ~Slot() {}
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  template <typename... Arguments>
  void begin(Arguments&&... arguments) {
    std::construct_at(&value, std::forward<Arguments>(arguments)...);
  }
  void end() { std::destroy_at(&value); }
  T take() {
    T taken = std::move(value);
    end();
    return taken;
  }

  T value;
};

}  // namespace corolane::coroutine::detail
