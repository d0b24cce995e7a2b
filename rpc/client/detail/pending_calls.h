// SPDX-License-Identifier: MIT
// The calls of one connection that wait for an answer, by id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "coroutine/base/result.h"
#include "rpc/wire/frame.h"

namespace corolane::rpc::detail {

// A call that waits. Its caller owns it and takes it out of the table before destroying it.
class PendingCall {
 public:
  // On the loop's stack. The call has been taken out of the table: it has its reply, or there will
  // be none that it could take.
  virtual void on_reply(const Frame& frame) = 0;
  virtual void on_failure(const Error& reason) = 0;
  // The next message of a stream. An error, for example because the call is not a stream, ends the
  // connection.
  virtual Result<void> on_item(const Frame& frame) = 0;
  // The handler has room for more of the caller's stream.
  virtual void on_window(std::uint32_t) {}

 protected:
  ~PendingCall() = default;
};

// An id names a slot and its generation, so that a late reply finds no call rather than a wrong
// one. No id is 0, which all one-way requests have: an answer to one of them finds no call either.
class PendingCalls {
 public:
  std::uint64_t add(PendingCall& call) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    slots_[index].call = &call;
    return id_of(index);
  }

  // Null when that call has ended.
  PendingCall* find(std::uint64_t id) const {
    const std::uint32_t index = index_of(id);
    const bool is_pending = index < slots_.size() && slots_[index].generation == id >> 32;
    return is_pending ? slots_[index].call : nullptr;
  }
  PendingCall* take(std::uint64_t id) {
    if (find(id) == nullptr) return nullptr;
    const std::uint32_t index = index_of(id);
    Slot& slot = slots_[index];
    ++slot.generation;
    free_.push_back(index);
    return std::exchange(slot.call, nullptr);
  }

  std::size_t count() const { return slots_.size() - free_.size(); }

  void end_all(const Error& reason) {
    for (std::uint32_t index = 0; index < slots_.size(); ++index) {
      PendingCall* const call = take(id_of(index));
      if (call != nullptr) call->on_failure(reason);
    }
  }

 private:
  struct Slot {
    PendingCall* call = nullptr;
    std::uint32_t generation = 0;
  };

  std::uint64_t id_of(std::uint32_t index) const {
    return std::uint64_t{slots_[index].generation} << 32 | (index + 1);
  }
  static std::uint32_t index_of(std::uint64_t id) { return static_cast<std::uint32_t>(id) - 1; }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace corolane::rpc::detail
