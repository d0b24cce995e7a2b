// SPDX-License-Identifier: MIT
// The queue of what one reader of pushes has not read yet, in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"

namespace corolane::framework::detail {

class PushInbox;

class PushQueue {
 public:
  static constexpr std::size_t count_max = 256;
  static constexpr std::size_t bytes_max = std::size_t{1} << 20;

  using Item = std::optional<std::string>;  // The bytes of a message; nothing for a gap.

  // When there is no room, the oldest messages make it, and a gap takes their place. A gap right
  // behind another one is the same.
  void add(Item item);
  // Nothing is added any more; the reader still gets what waits for it.
  void end(Error reason);
  bool has_ended() const { return end_.has_value(); }
  Result<Item> next(Deadline deadline);

  std::size_t count() const { return items_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::deque<Item> items_;
  std::size_t bytes_ = 0;
  std::optional<Error> end_;
  coroutine::Event changed_{"a push"};
};

// One end of a queue; the inbox has the other one.
class PushReader {
 public:
  struct State {
    State(std::uint32_t its_group, std::uint64_t its_type) : group(its_group), type(its_type) {}

    PushInbox* inbox = nullptr;  // Null when nothing more is added.
    const std::uint32_t group;   // 0: reads what is pushed to the session itself.
    std::uint64_t type;          // 0: that of the first message.
    PushQueue queue;
  };

  explicit PushReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
  ~PushReader();
  PushReader(PushReader&&) noexcept = default;
  PushReader& operator=(PushReader&& other) noexcept;

  // Suspends. Nothing stands for a gap.
  Result<PushQueue::Item> next(Deadline deadline) { return state_->queue.next(deadline); }

 private:
  void leave();

  std::unique_ptr<State> state_;
};

}  // namespace corolane::framework::detail
