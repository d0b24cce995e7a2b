// SPDX-License-Identifier: MIT
// A bounded queue between tasks of one scheduler: senders wait while it is full, receivers while
// it is empty, each in order of arrival.
//
//   Channel<Move> moves(/*capacity=*/16);
//   auto player = spawn("player", [&] { return moves.send(move, deadline); });
//   auto received = moves.receive(deadline);
//   if (received) return play(*received);
//   switch (received.error().code()) {
//     case Code::out_of_range:       // Closed, and all moves were received.
//       return end_game();
//     case Code::deadline_exceeded:  // Late: the game goes on without this move.
//       return skip_turn();
//     default:                       // Cancelled: this task is asked to end.
//       return received.error();
//   }
//
// close() ends it: sends fail from then on. Queued values can still be received; after them every
// receive fails with out_of_range.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/known_queue.h"
#include "coroutine/operation.h"

namespace corolane::coroutine {

template <typename T>
class Channel {
 public:
  // Holds up to `capacity` values; at least 1. `waited_for` is what introspection shows of waiting
  // receivers; it outlives the channel.
  explicit Channel(std::size_t capacity, const char* waited_for = "channel receive",
                   const std::source_location& site = std::source_location::current())
      : ring_(capacity), senders_("channel send", site), receivers_(waited_for, site) {
    check(capacity > 0, "a channel holds at least one value");
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Suspends while the channel is full. Fails with failed_precondition when it is closed, with
  // deadline_exceeded or cancelled otherwise; `value` is moved from only when it was sent.
  [[gnu::always_inline]] Result<void> send(T&& value, Deadline deadline) {
    return perform(Sending(*this, value), deadline);
  }
  // Sends a copy.
  [[gnu::always_inline]] Result<void> send(const T& value, Deadline deadline)
    requires std::copy_constructible<T>
  {
    return send(T(value), deadline);
  }

  // Never suspends. Returns false when the channel is full or closed; `value` is then as it was.
  bool try_send(T&& value) { return try_send_from(value); }
  bool try_send(const T& value)
    requires std::copy_constructible<T>
  {
    return try_send(T(value));
  }

  // Suspends while the channel is empty. Fails with out_of_range when it is closed and drained,
  // with deadline_exceeded or cancelled otherwise.
  [[gnu::always_inline]] Result<T> receive(Deadline deadline) {
    return perform(receiving(), deadline);
  }

  // Never suspends; nothing when the channel is empty.
  std::optional<T> try_receive() {
    std::optional<T> value;
    receive_into(value);
    return value;
  }

  // Wakes all waiters. Does nothing when already closed.
  void close() {
    closed_ = true;
    senders_.notify_all();
    receivers_.notify_all();
  }

  bool is_closed() const { return closed_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return ring_.size(); }

  // Both as operations, for select() and stackless coroutines. Sending refers to `value`, and moves
  // from it only when it is sent.
  class Sending;
  class Receiving;
  Sending sending(T&& value) { return Sending(*this, value); }
  Receiving receiving() { return Receiving(*this); }

 private:
  bool try_send_from(T& value) {
    if (closed_) return false;
    if (!receivers_.empty()) {
      // Hands the value straight to the receiver that has waited longest.
      static_cast<std::optional<T>*>(receivers_.front_slot())->emplace(std::move(value));
      receivers_.notify_one();
      return true;
    }
    if (size_ == ring_.size()) return false;
    push(std::move(value));
    return true;
  }

  // Leaves `value` empty when the channel is. An out parameter, because an optional that is
  // assembled from its parts in memory cannot be loaded as a whole at once.
  void receive_into(std::optional<T>& value) {
    if (size_ == 0) return;
    value.emplace(std::move(*ring_[head_]));
    ring_[head_].reset();
    head_ = wrapped(head_ + 1);
    --size_;
    if (!senders_.empty()) {
      auto& sending = *static_cast<Sending*>(senders_.front_slot());
      push(std::move(sending.value_));
      sending.sent_ = true;
      senders_.notify_one();
    }
  }

  void push(T&& value) {
    ring_[wrapped(head_ + size_)].emplace(std::move(value));
    ++size_;
  }

  // Wraps an index below twice the capacity. (A division would take as long as a switch.)
  std::size_t wrapped(std::size_t index) const {
    return index < ring_.size() ? index : index - ring_.size();
  }

  static Error closed_error(Code code) { return Error(code, "the channel is closed"); }

  std::vector<std::optional<T>> ring_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  bool closed_ = false;
  detail::KnownQueue senders_;
  detail::KnownQueue receivers_;
};

template <typename T>
class Channel<T>::Sending {
 public:
  using Value = void;

  bool can_complete() const {
    return channel_.closed_ || !channel_.receivers_.empty() || channel_.size_ < channel_.capacity();
  }
  bool try_complete() {
    sent_ = channel_.try_send_from(value_);
    return sent_ || channel_.closed_;
  }
  detail::KnownQueue& queue() { return channel_.senders_; }
  void* slot() { return this; }
  Result<void> finish() {
    if (!sent_) return closed_error(Code::failed_precondition);
    return {};
  }

 private:
  friend class Channel;
  Sending(Channel& channel, T& value) : channel_(channel), value_(value) {}

  Channel& channel_;
  T& value_;
  bool sent_ = false;
};

template <typename T>
class Channel<T>::Receiving {
 public:
  using Value = T;

  bool can_complete() const { return channel_.closed_ || channel_.size_ > 0; }
  bool try_complete() {
    channel_.receive_into(value_);
    return value_ || channel_.closed_;
  }
  detail::KnownQueue& queue() { return channel_.receivers_; }
  void* slot() { return &value_; }
  Result<T> finish() {
    if (!value_) return closed_error(Code::out_of_range);
    return std::move(*value_);
  }

 private:
  friend class Channel;
  explicit Receiving(Channel& channel) : channel_(channel) {}

  Channel& channel_;
  std::optional<T> value_;
};

}  // namespace corolane::coroutine
