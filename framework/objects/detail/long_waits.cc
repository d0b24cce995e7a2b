// SPDX-License-Identifier: MIT
#include "framework/objects/detail/long_waits.h"

#include "coroutine/base/deadline.h"
#include "coroutine/base/text.h"
#include "coroutine/scheduler.h"

namespace corolane::framework::detail {

LongWaits::Wait::Wait(LongWaits& waits, const ObjectCell& its_cell,
                      const ObjectVisitor& its_visitor)
    : cell(its_cell),
      visitor(its_visitor),
      since(coroutine::Scheduler::current().turn_time()),
      waits_(waits),
      place_(waits.waits_.insert(waits.waits_.end(), this)) {
  if (waits.on_long_ == nullptr || waits.alarm_.is_armed()) return;
  coroutine::Scheduler::current().timers().arm(waits.alarm_, Deadline::at(since + long_time));
}

void LongWaits::look() {
  if (waits_.empty()) return;
  coroutine::Scheduler& scheduler = coroutine::Scheduler::current();
  const TimePoint time = scheduler.turn_time();
  const TimePoint first = waits_.front()->since;
  if (time - first < long_time) {
    return scheduler.timers().arm(alarm_, Deadline::at(first + long_time));
  }
  on_long_();
  scheduler.timers().arm(alarm_, Deadline::at(time + look_interval));
}

Error LongWaits::explained(Error error, std::string_view type, std::string_view id) const {
  if (cycles_.empty() || error.code() != Code::deadline_exceeded) return error;
  const auto found = cycles_.find(std::string(type) + "(" + quote(id) + ")");
  if (found == cycles_.end() || error.message().contains("it waited in a cycle")) return error;
  return std::move(error).with_context("it waited in a cycle: " + found->second);
}

}  // namespace corolane::framework::detail
