// SPDX-License-Identifier: MIT
#include "coroutine/detail/letter.h"

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

// The place of a letter in the queue of the scheduler there, which may destroy it unread.
class Letter::Queued {
 public:
  explicit Queued(std::shared_ptr<Letter> letter) : letter_(std::move(letter)) {}
  Queued(Queued&& other) noexcept = default;
  Queued& operator=(Queued&&) = delete;
  ~Queued() {
    if (letter_ == nullptr) return;
    letter_->there_.call_left_queue();
    if (!letter_->change(State::queued, State::begun)) return;
    letter_->refuse(Error(Code::unavailable, "the scheduler there ended before the call began"));
  }

  void open() {
    const auto letter = std::move(letter_);
    letter->there_.call_left_queue();
    letter->begin();
  }

 private:
  std::shared_ptr<Letter> letter_;
};

Letter::Letter(Scheduler& there, std::string_view name, const CallOnOptions& options,
               const std::source_location& site)
    : home_(Scheduler::current()),
      there_(there),
      name_(name),
      options_(options),
      site_(site),
      ended_(options.waited_for) {}

Result<void> Letter::post() {
  if (!there_.call_enters_queue()) {
    return Error(Code::resource_exhausted,
                 "too many calls are queued at a scheduler: see queued_call_count_max")
        .with_not_executed();
  }
  there_.post([queued = Queued(shared_from_this())]() mutable { queued.open(); });
  return {};
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
  if (!change(State::queued, State::begun)) return;
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
  const auto serve = [self = shared_from_this()] {
    self->run();
    self->end();
  };
  TaskGroup& group = options_.group != nullptr ? *options_.group : *visitors;
  return group.spawn(name_, serve, options_.task, site_);
}

void Letter::refuse(Error reason) {
  refusal_ = std::move(reason).with_not_executed();
  end();
}

// The caller that has not left waits for the post: its scheduler lives until then.
void Letter::end() {
  if (!change(State::begun, State::ended)) return;
  home_.post([self = shared_from_this()] {
    self->has_ended_ = true;
    self->ended_.notify_all();
  });
}

void Letter::cancel_there() {
  there_.post([self = shared_from_this()] { self->task_.cancel(); });
}

}  // namespace corolane::coroutine::detail
