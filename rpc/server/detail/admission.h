// Whether a call may wait for its turn, or is refused at once.
//
// A shard is one thread, so what overload means is that calls wait for it. How many may wait adapts
// to how fast they begin: as many as do within `delay_max`, or, once even the shortest wait of an
// `interval` was above `delay_target` (the sign of a standing queue and not of a burst: CoDel,
// RFC 8289), within `delay_target`. Each class of priority has a queue and a verdict of its own,
// since the important ones begin first. That measures what the thread can do and nothing else: a
// gradient of latencies would take handlers that wait for other players, or for a slow store, for
// overload of this one.
//
// While there is contention nobody holds more than a fair share of the places: not a connection,
// not a method. Those that hold none are let in a little longer.
//
// Counts and times alone; what waits is kept by the Dispatcher.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "rpc/admission_options.h"
#include "rpc/service.h"

namespace corolane::rpc::detail {

class Admission {
 public:
  explicit Admission(const AdmissionOptions& options) : options_(options) {}

  // How many calls of one connection, or of one method, wait.
  struct Share {
    std::size_t waiting_count = 0;
  };
  struct Verdict {
    bool is_admitted = true;
    Duration delay{};  // How long it would wait, as far as can be known.
  };

  // `beginning_count` calls have been begun already and come before it.
  Verdict judge(Priority priority, const Share& connection, const Share& method,
                std::size_t beginning_count, Deadline deadline, TimePoint now) const;

  void waits(Priority priority, Share& connection, Share& method);
  // It waits no more: it begins, or is gone.
  void leaves(Priority priority, Share& connection, Share& method);

  // Some of a class have just left to begin, the first of which had waited since `arrived_at`.
  void note_wait(Priority priority, TimePoint arrived_at, TimePoint now);

  // One has begun. Others come right behind it if `is_backlog`: then how long it takes until the
  // next one does is the pace.
  void note_begun(TimePoint now, bool is_backlog);

  // How many calls may have a stack before they have begun: those of a millisecond, so that what
  // comes later, and is more important, does not wait for long.
  std::size_t beginning_max() const { return beginning_max_; }
  std::size_t waiting_count() const { return waiting_count_; }
  bool is_overloaded(Priority priority) const { return class_of(priority).is_overloaded; }

 private:
  struct Class {
    std::size_t waiting_count = 0;
    bool is_overloaded = false;
    Duration shortest_wait = Duration::max();  // Of this interval.
    TimePoint interval_end{};
  };

  static constexpr std::size_t beginning_most = 64;
  static constexpr std::size_t beginning_least = 2;

  const Class& class_of(Priority priority) const {
    return classes_[static_cast<std::size_t>(priority)];
  }
  // Of this class and all that come before it.
  std::size_t waiting_up_to(Priority priority) const;
  const AdmissionOptions options_;
  std::array<Class, priority_count> classes_{};
  std::size_t waiting_count_ = 0;
  std::size_t waiting_connection_count_ = 0;
  std::size_t waiting_method_count_ = 0;
  std::size_t beginning_max_ = beginning_most;
  // How long the thread takes for each call that begins, while there is always another one: an
  // average that forgets. Zero while it is not known.
  Duration pace_{};
  bool was_backlog_ = false;
  TimePoint last_begun_at_{};
};

}  // namespace corolane::rpc::detail
