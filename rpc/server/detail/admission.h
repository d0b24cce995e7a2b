// SPDX-License-Identifier: MIT
// Whether a call may wait for its turn, or is refused at once.
//
// A shard is one thread, so overload means that calls wait for it. The number that may wait adapts
// to the rate at which calls begin: as many as begin within `delay_max`; or within `delay_target`,
// once even the shortest wait of an `interval` was above it, which is the sign of a standing queue
// and not of a burst (CoDel, RFC 8289). Each priority class has its own queue and verdict, since
// the important ones begin first. This measures the capacity of the thread and nothing else: a
// latency gradient would mistake handlers that wait for other players, or for a slow store, for
// overload.
//
// A machine that stalls for a moment has not become slow: one long time between two calls counts
// only a little, and several in a row count fully.
//
// Under contention no connection and no method holds more than a fair share of the places. Those
// that hold none are admitted a little longer.
//
// The class keeps only counts and times; the Dispatcher keeps the waiting calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "rpc/options.h"
#include "rpc/service.h"

namespace corolane::rpc::detail {

class Admission {
 public:
  explicit Admission(const AdmissionOptions& options) : options_(options) {}

  // The number of waiting calls of one connection, or of one method.
  struct Share {
    std::size_t waiting_count = 0;
  };
  struct Verdict {
    bool is_admitted = true;
    Duration delay{};  // The estimated queue delay.
  };

  // `beginning_count` calls have a task already and come before it.
  Verdict judge(Priority priority, const Share& connection, const Share& method,
                std::size_t beginning_count, Deadline deadline, TimePoint now) const;

  void waits(Priority priority, Share& connection, Share& method);
  // The call stops waiting: it begins, or is gone.
  void leaves(Priority priority, Share& connection, Share& method);

  // Some calls of a class have just left the queue to begin; the first had waited since
  // `arrived_at`.
  void note_wait(Priority priority, TimePoint arrived_at, TimePoint now);

  // The handler of a call begins; one that has expired before costs next to nothing, and says
  // nothing of the pace. With `is_backlog` others follow right behind it, so the time until the
  // next one begins measures the pace.
  void note_begun(TimePoint now, bool is_backlog);

  // How many calls may have a stack before they have begun: about a millisecond's worth, so that a
  // later and more important call does not wait for long.
  std::size_t beginning_max() const { return beginning_max_; }
  std::size_t waiting_count() const { return waiting_count_; }
  bool is_overloaded(Priority priority) const { return class_of(priority).is_overloaded; }

 private:
  struct Class {
    std::size_t waiting_count = 0;
    bool is_overloaded = false;
    Duration shortest_wait = Duration::max();  // In this interval.
    TimePoint interval_end{};
  };

  static constexpr std::size_t beginning_most = 64;
  static constexpr std::size_t beginning_least = 2;

  const Class& class_of(Priority priority) const {
    return classes_[static_cast<std::size_t>(priority)];
  }
  // The calls of this class and of all classes before it.
  std::size_t waiting_up_to(Priority priority) const;
  const AdmissionOptions options_;
  std::array<Class, priority_count> classes_{};
  std::size_t waiting_count_ = 0;
  std::size_t waiting_connection_count_ = 0;
  std::size_t waiting_method_count_ = 0;
  std::size_t beginning_max_ = beginning_most;
  // The thread's time per call while there is a backlog: a moving average, which begins at zero.
  Duration pace_{};
  bool was_backlog_ = false;
  TimePoint last_begun_at_{};
};

}  // namespace corolane::rpc::detail
