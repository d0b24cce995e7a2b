// SPDX-License-Identifier: MIT
// What the session of a client is pushed, read by a task in straight lines.
//
//   auto events = cluster.pushes<RoomEvent>();
//   for (;;) {
//     auto event = events.next(Deadline::never());
//     if (!event) return event.error();
//     if (event->is_gap()) {
//       draw_anew();
//     } else {
//       append((*event)->text());
//     }
//   }
#pragma once

#include <optional>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/client/detail/push_reader.h"

namespace corolane::framework {

// A message; or a gap, which says that messages are missing before the next one.
template <typename T>
class Pushed {
 public:
  Pushed() = default;  // A gap.
  explicit Pushed(T message) : message_(std::move(message)) {}

  bool is_gap() const { return !message_; }
  // Valid when it is not a gap.
  const T& operator*() const { return *message_; }
  const T* operator->() const { return &*message_; }

 private:
  std::optional<T> message_;
};

// The reader of one type of messages; move-only. It keeps up to 256 messages, or a mebibyte, for a
// task that is slow; the oldest of them make room, and a gap takes their place.
template <typename T>
class Pushes {
 public:
  explicit Pushes(detail::PushReader reader) : reader_(std::move(reader)) {}

  // Suspends until there is a message or a gap. Fails with deadline_exceeded or cancelled, after
  // which it can be called again. Any other error is final, and comes again with each call:
  // unavailable when the client was closed; the error with which the server has ended the session,
  // or unimplemented when it keeps none; failed_precondition when the client keeps none. For a
  // group also: the error with which it has ended; aborted when the session is a new one or the
  // group was given up, since it was followed too late; failed_precondition when it has a reader;
  // invalid_argument when its messages are of another type. A gap may hide the end of a group:
  // after one, see whether it still goes on.
  Result<Pushed<T>> next(Deadline deadline) {
    auto bytes = reader_.next(deadline);
    if (!bytes) return std::move(bytes.error());
    if (!*bytes) return Pushed<T>();
    T message;
    // A message that cannot be read is lost.
    if (!message.ParseFromString(**bytes)) return Pushed<T>();
    return Pushed<T>(std::move(message));
  }

 private:
  detail::PushReader reader_;
};

}  // namespace corolane::framework
