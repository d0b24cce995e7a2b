// SPDX-License-Identifier: MIT
// The calls that wait for turns of objects on one shard, so that a wait which lasts too long is
// noticed without a look at any object; and what is known of cycles of waits.
//
//   LongWaits waits;
//   waits.set_on_long([&] { control.post([&] { watch.look(); }); });
//   ...
//   const LongWaits::Wait wait(waits, cell, visitor);  // While a call waits for its turn.
//   turn.try_lock_until(deadline);
//
// A call that gets its turn at once does not come here. Belongs to the thread of the shard.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "coroutine/timer_wheel.h"

namespace corolane::framework::detail {

class ObjectCell;
class ObjectVisitor;

class LongWaits {
 public:
  // A wait that has lasted for so long is worth a look, once in `look_interval`.
  static constexpr Duration long_time = std::chrono::seconds(1);
  static constexpr Duration look_interval = std::chrono::seconds(3);

  LongWaits() = default;
  LongWaits(const LongWaits&) = delete;
  LongWaits& operator=(const LongWaits&) = delete;

  // `on_long` is called on the loop's stack while there is a long wait.
  void set_on_long(std::function<void()> on_long) { on_long_ = std::move(on_long); }

  // One wait for a turn, among the locals of its task; all that it gets outlives it.
  class Wait {
   public:
    Wait(LongWaits& waits, const ObjectCell& its_cell, const ObjectVisitor& its_visitor);
    ~Wait() { waits_.waits_.erase(place_); }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    const ObjectCell& cell;
    const ObjectVisitor& visitor;
    const TimePoint since;

   private:
    LongWaits& waits_;
    std::list<const Wait*>::iterator place_;
  };
  // Visits the waits, the longest first, until `visit` returns false.
  template <typename F>
  void for_each_while(F&& visit) const {
    for (const Wait* const wait : waits_) {
      if (!visit(*wait)) return;
    }
  }

  // The cycles of waits that were found last, as text, by the names of what waits in them: those of
  // objects are `package.Player("ada")`.
  using Cycles = std::map<std::string, std::string>;
  void set_cycles(Cycles cycles) { cycles_ = std::move(cycles); }
  // Adds to the error of a call of that object, or by it, whose deadline has passed, that it waited
  // in a cycle, if it did.
  Error explained(Error error, std::string_view type, std::string_view id) const;

 private:
  class Alarm : public coroutine::Timer {
   public:
    explicit Alarm(LongWaits& owner)
        : Timer([](Timer& timer) { static_cast<Alarm&>(timer).waits_.look(); }), waits_(owner) {}

   private:
    LongWaits& waits_;
  };

  void look();

  std::function<void()> on_long_;
  std::list<const Wait*> waits_;
  Alarm alarm_{*this};
  Cycles cycles_;
};

}  // namespace corolane::framework::detail
