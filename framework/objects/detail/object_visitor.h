// SPDX-License-Identifier: MIT
// A visitor of an object, for inspection from outside: a call, or work of the object itself, that
// waits for a turn, has one, or waits without one.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/scheduler.h"
#include "coroutine/task_info.h"
#include "framework/wire/detail/call_chain.h"

namespace corolane::framework::detail {

class ObjectVisitor {
 public:
  enum class Stage : std::uint8_t {
    waiting,  // For its first turn, or for a further one.
    inside,   // Has a turn.
    outside,  // Waits for an event, without one.
    leaving,  // Is done with the object.
  };
  // The views outlive the visitor.
  struct Facts {
    const char* what;  // "package.Counter/Add", or "save".
    std::string_view peer = {};
    TimePoint arrived_at{};  // The epoch: now.
    Deadline deadline = Deadline::never();
    std::shared_ptr<const CallChain::Link> callers = nullptr;
  };

  // Constructed by the visiting task. `first` is the head of the object's list, the latest first.
  ObjectVisitor(ObjectVisitor*& first, Facts facts)
      : facts_(std::move(facts)), task_(coroutine::current_task_id()), next_(first), link_(&first) {
    if (next_ != nullptr) next_->link_ = &next_;
    first = this;
    since_ = turn_time();
    if (facts_.arrived_at == TimePoint{}) facts_.arrived_at = since_;
  }
  ~ObjectVisitor() {
    *link_ = next_;
    if (next_ != nullptr) next_->link_ = link_;
  }
  ObjectVisitor(const ObjectVisitor&) = delete;
  ObjectVisitor& operator=(const ObjectVisitor&) = delete;

  void enter(Stage stage) {
    stage_ = stage;
    since_ = turn_time();
  }

  // Whether it has, or waits for, a turn that others may share.
  void set_shared(bool is_shared) { is_shared_ = is_shared; }
  bool is_shared() const { return is_shared_; }
  // The running handler, which outlives its time here; null: none runs.
  void set_frame(const CallChain::Frame* frame) { frame_ = frame; }
  // The calls of other objects that its handler waits for; null: none.
  const CallChain::OutCall* out_calls() const {
    const CallChain::Link* const link = frame_ == nullptr ? nullptr : frame_->own_link();
    return link == nullptr ? nullptr : link->out_calls;
  }

  const Facts& facts() const { return facts_; }
  Stage stage() const { return stage_; }
  // The start of the stage, to the precision of a loop turn.
  TimePoint since() const { return since_; }
  coroutine::TaskId task() const { return task_; }
  // The visitor before it; null when there is none.
  const ObjectVisitor* next() const { return next_; }

 private:
  static TimePoint turn_time() { return coroutine::Scheduler::current().turn_time(); }

  Facts facts_;
  const coroutine::TaskId task_;
  Stage stage_ = Stage::waiting;
  bool is_shared_ = false;
  const CallChain::Frame* frame_ = nullptr;
  TimePoint since_;
  ObjectVisitor* next_;
  ObjectVisitor** link_;
};

}  // namespace corolane::framework::detail
