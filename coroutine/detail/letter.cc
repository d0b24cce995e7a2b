// SPDX-License-Identifier: MIT
#include "coroutine/detail/letter.h"

#include <algorithm>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine::detail {

Result<void> check_may_call(Deadline deadline, const CallOnOptions& options) {
  if (options.cancellation == Cancellation::observe && is_cancelled()) {
    return wake_error(Wake::cancelled, options.waited_for).with_not_executed();
  }
  if (!deadline.has_passed()) return {};
  return wake_error(Wake::deadline, options.waited_for).with_not_executed();
}

Letter::Letter(Scheduler& there, std::string_view name, const CallOnOptions& options,
               const std::source_location& site)
    : Mail{.open = [](Mail& mail) { of(mail).arrive_there(); },
           .drop = [](Mail& mail) { of(mail).drop_there(); }},
      home_(Scheduler::current()),
      there_(there),
      name_size_(static_cast<std::uint8_t>(std::min(name.size(), name_size_max))),
      options_(options),
      site_(site),
      ended_(options.waited_for) {
  std::copy_n(name.begin(), name_size_, name_text_.begin());
}

void Letter::release() {
  // The last one has acquired what the other side wrote.
  if (reference_count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

Result<void> Letter::post() {
  if (!there_.call_enters_queue(options_.may_exceed_queue)) {
    return Error(Code::resource_exhausted,
                 "too many calls are queued at a scheduler: see queued_call_count_max")
        .with_not_executed();
  }
  hold();
  if (options_.may_gather) {
    home_.send_with_turn(there_, *this);
  } else {
    there_.receive(*this);
  }
  return {};
}

void Letter::arrive_there() {
  there_.call_left_queue();
  if (change(State::queued, State::begun)) {
    begin();
  } else {
    release();
  }
}

// The scheduler there ends with the letter in its queue.
void Letter::drop_there() {
  there_.call_left_queue();
  if (change(State::queued, State::begun)) {
    refuse(Error(Code::unavailable, "the scheduler there ended before the call began"));
  } else {
    release();
  }
}

Result<void> Letter::settle(Deadline deadline, Late late) {
  if (has_ended_) return std::move(refusal_);
  const Wake wake = ended_.wait(deadline, options_.cancellation);
  if (has_ended_) return std::move(refusal_);
  Error waited = wake_error(wake, options_.waited_for);
  if (change(State::queued, State::taken_back)) return std::move(waited).with_not_executed();
  if (late == Late::leave && change(State::begun, State::left)) {
    cancel_there();
    return std::move(waited).with_maybe_executed();
  }
  // Otherwise its end is on its way.
  if (late == Late::await) cancel_there();
  while (!has_ended_) ended_.wait(Deadline::never(), Cancellation::ignore);
  if (!refusal_) return std::move(refusal_);
  return waited;
}

// Acquires what the other side wrote before, and releases what this one did.
bool Letter::change(State from, State to) {
  return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

void Letter::begin() {
  auto spawned = spawn();
  if (!spawned) return refuse(std::move(spawned.error()));
  task_ = *spawned;
}

Result<TaskRef> Letter::spawn() {
  TaskGroup* const visitors = there_.visitors();
  if (visitors == nullptr) {
    return Error(Code::unavailable, "the main task there ended before the call began");
  }
  if (!options_.may_take_last_stacks && there_.stacks().is_scarce()) {
    return Error(Code::resource_exhausted, "the last stacks there are for other callers");
  }
  const auto serve = [this] {
    run();
    end();
  };
  TaskGroup& group = options_.group != nullptr ? *options_.group : *visitors;
  return group.spawn({name_text_.data(), name_size_}, serve, options_.task, site_);
}

void Letter::refuse(Error reason) {
  refusal_ = std::move(reason).with_not_executed();
  end();
}

// The caller that has not left waits for the mail: its scheduler lives until then.
void Letter::end() {
  if (!change(State::begun, State::ended)) return release();
  open = [](Mail& mail) { of(mail).arrive_home(); };
  drop = [](Mail& mail) { of(mail).release(); };
  // In the destructor of the scheduler there, no turn follows.
  if (Scheduler::current_or_null() == &there_) {
    there_.send_with_turn(home_, *this);
  } else {
    home_.receive(*this);
  }
}

void Letter::arrive_home() {
  has_ended_ = true;
  ended_.notify_all();
  release();
}

void Letter::cancel_there() {
  hold();
  there_.post([this] {
    task_.cancel();
    release();
  });
}

}  // namespace corolane::coroutine::detail
