// SPDX-License-Identifier: MIT
#include "framework/objects/detail/object_turn.h"

#include <chrono>

#include "coroutine/base/check.h"
#include "framework/cluster/detail/seeded_bugs.h"
#include "framework/wire/detail/call_chain.h"
#include "framework/wire/detail/method_name.h"
#include "rpc/observe/tracing.h"

namespace corolane::framework::detail {
namespace {

// The delay between attempts to store a hidden change.
constexpr Duration hidden_change_retry_interval = std::chrono::milliseconds(100);

template <typename T>
Result<T> of_runtime(Result<T> result) {
  if (result) return result;
  return std::move(result.error()).with_origin(Origin::runtime);
}

// Who is inside, so that the span says what its call waits for.
void describe_wait(rpc::Span& span, const ObjectCell& cell) {
  span.attribute("corolane.object.type", cell.type().name());
  span.attribute("corolane.object.id", cell.id());
  std::int64_t waiting_count = -1;  // Without this one.
  for (const auto* visitor = cell.visitors(); visitor != nullptr; visitor = visitor->next()) {
    if (visitor->stage() == ObjectVisitor::Stage::waiting) ++waiting_count;
    if (visitor->stage() != ObjectVisitor::Stage::inside) continue;
    span.attribute("corolane.turn.holder", std::string_view(visitor->facts().what));
  }
  span.attribute("corolane.turn.others_waiting", waiting_count);
}

}  // namespace

bool ObjectHost::Turn::wait_for_turn(bool is_shared, Deadline deadline) {
  rpc::Span wait = rpc::Tracer::wait(host_.surroundings_.tracer, "wait for turn");
  if (wait.is_recorded()) [[unlikely]]
    describe_wait(wait, cell_);
  return is_shared ? cell_.turn().try_lock_shared_until(deadline)
                   : cell_.turn().try_lock_until(deadline);
}

ObjectHost::Turn& ObjectHost::turn_of(const ObjectCell& cell) {
  const CallChain* const chain = CallChain::current();
  const auto* const frame = chain == nullptr ? nullptr : chain->frame();
  auto* const turn = frame == nullptr ? nullptr : static_cast<Turn*>(frame->turn());
  check(turn != nullptr && &turn->cell() == &cell, "a handler waits in its own task");
  return *turn;
}

Result<bool> ObjectHost::wait_until(ObjectCell& cell, const std::function<bool()>& predicate,
                                    Deadline deadline) {
  return of_runtime(turn_of(cell).wait_until(predicate, deadline));
}

Result<void> ObjectHost::run_outside(ObjectCell& cell, const std::function<void()>& work,
                                     Deadline deadline) {
  return of_runtime(turn_of(cell).run_without(work, deadline));
}

Error ObjectHost::Turn::lost() const {
  if (was_sent_away_) return cell_.moved();
  return Error(Code::cancelled,
               "cancelled while " + std::string(facts().what) + " waited without its turn");
}

// Gives the turn away, and takes one again when `wait` has returned.
template <typename F>
Result<void> ObjectHost::Turn::without(F&& wait) {
  if (!is_held()) return lost();
  // Calls that only read keep their place.
  const bool makes_room = letter_ != nullptr && letter_->part() == MailboxPart::writers;
  has_changed_before_ = has_changed();
  if (makes_room) {
    if (cell_.letters(MailboxPart::waiting_writers) >= host_.mailbox_max(cell_.type())) {
      return host_.refuse(cell_.type(), cell_.id(), "calls that wait for an event");
    }
    letter_->move_to(MailboxPart::waiting_writers);
  }
  end();
  is_outside_ = true;
  visitor_.enter(ObjectVisitor::Stage::outside);
  cell_.go_outside();
  auto waited = [&] {
    const CallChain::Outside outside;
    return wait();
  }();
  const bool may_return = waited || waited.error().code() == Code::deadline_exceeded;
  if (!may_return) {
    was_sent_away_ = waited.error().code() == Code::aborted;
    return waited;
  }
  if (auto back = take_again(); !back) {
    was_sent_away_ = back.error().code() == Code::aborted;
    return back;
  }
  is_outside_ = false;
  cell_.come_back();
  if (makes_room) letter_->move_to(MailboxPart::writers);
  if (!cell_.is_owned()) return cell_.moved();
  return waited;
}

Result<void> ObjectHost::Turn::wait_without(coroutine::Event& event, Deadline deadline) {
  return without([&] { return cell_.wait_outside(event, deadline); });
}

Result<void> ObjectHost::Turn::run_without(const std::function<void()>& work, Deadline deadline) {
  return without([&] { return cell_.run_outside(work, deadline); });
}

Result<bool> ObjectHost::Turn::wait_until(const std::function<bool()>& predicate,
                                          Deadline deadline) {
  ObjectCell::Watcher watcher{.predicate = predicate};
  while (!predicate()) {
    watcher.came_true.reset();
    cell_.add(watcher);
    auto waited = wait_without(watcher.came_true, deadline);
    cell_.remove(watcher);
    if (waited) continue;
    if (waited.error().code() != Code::deadline_exceeded) return waited.error();
    if (predicate()) break;
    // A handler that tries again after its own deadline would never end.
    if (facts().deadline.has_passed()) return waited.error();
    return false;
  }
  return true;
}

// Takes a turn of the same kind. A hidden change is stored first, in an exclusive turn. A task that
// closes the object waits until this handler has a turn or has left, so it gets none after that
// task.
Result<void> ObjectHost::Turn::take_again() {
  const bool was_shared = is_shared_;
  coroutine::Event nothing{"the store"};
  for (;;) {
    {
      ObjectCell::WayBack way(cell_);
      if (!take(was_shared && !cell_.hides_change(), Deadline::never())) {
        if (way.is_closed()) return cell_.moved();
        return Error(Code::cancelled, "cancelled while waiting for a turn");
      }
    }
    is_shared_ = was_shared;  // For the next turn, too.
    const auto is_stored = [this] {
      if (!cell_.hides_change()) return true;
      const Deadline stored_by = Deadline::after(host_.options_.save_time_max);
      return state_ == State::exclusive && host_.save(cell_, stored_by).has_value();
    };
    if (cell_.is_active() && is_stored() && cell_.is_active()) return {};
    end();
    if (!cell_.is_active()) return cell_.moved();  // Lost or destroyed.
    auto waited = cell_.wait_outside(nothing, Deadline::after(hidden_change_retry_interval));
    if (waited.error().code() != Code::deadline_exceeded) return waited;
  }
}

// The task may be one that a method has spawned.
bool ObjectHost::may_call_out(const CallChain::Link& caller) const {
  // A node that is alone has no fence, and nothing to look up.
  if (caller.epoch == 0 || types_.front()->ownership().fence().is_never()) return true;
  const HostedType* const type = find_type(type_of(caller.method));
  if (type == nullptr) return true;
  const Partition partition = type->partition_of(caller.id);
  const Ownership& ownership = type->ownership();
  if (is_on_the_move(*type, partition)) [[unlikely]] {
    // Once the object has left, the directory may know its next owner: a one-way call that is still
    // tried is dropped.
    const ObjectCell* const cell = type->find(caller.id);
    if (cell == nullptr || !cell->is_active()) return false;
  }
  bool is_proven = false;
  if (ownership.holds(partition, caller.epoch) && !ownership.fence().has_lease()) {
    if (type->is_transient()) return false;
    const ObjectKey key = {.type = type->name(), .id = caller.id, .partition = partition};
    is_proven = surroundings_.store.seal(key, caller.epoch, Deadline::after(options_.save_time_max))
                    .has_value();
    if (!is_proven) return false;
  }
  const bool is_owned = ownership.holds(partition, caller.epoch);
  const bool may = is_owned && (is_proven || ownership.fence().has_lease());
  if (!may && !COROLANE_SEEDED_BUG(calls_after_fence)) return false;
  if (surroundings_.witness != nullptr) {
    surroundings_.witness->on_call({.type = type->name(),
                                    .id = caller.id,
                                    .partition = partition,
                                    .epoch = caller.epoch,
                                    .is_proven = is_proven && !ownership.fence().has_lease()});
  }
  return true;
}

Result<void> ObjectHost::Gate::reply(google::protobuf::Message& message) {
  if (remembers(method_, request_id_)) remember(message);
  // The request id may be stored from now on, so the change is stored with it.
  if (method_.durable) cell_.keep_changes();
  if (!passes_at_once()) {
    if (auto passed = pass(/*may_end_turn=*/true); !passed) return passed;
  }
  turn_.end();
  return out_.reply(message);
}

void ObjectHost::Gate::remember(const google::protobuf::Message& message) {
  RequestLedger& ledger = cell_.ledger(request_id_);
  ledger.add(request_id_, method_.id, message.SerializeAsString(), cell_.wall_clock().now());
  has_remembered_ = true;
  if (COROLANE_SEEDED_BUG(request_ids_evicted)) ledger.forget_all_but(64);
  cell_.mark_changed();
}

[[gnu::always_inline]] inline bool ObjectHost::Gate::passes_at_once() const {
  if (!turn_.is_held() || method_.durable || COROLANE_SEEDED_BUG(reply_without_proof)) return false;
  const bool is_stored = cell_.is_changed() && !method_.read_only;
  return !is_stored && host_.may_reply(cell_, request_id_, Proof::lease);
}

Result<void> ObjectHost::Gate::write(const google::protobuf::Message& message) {
  if (stream_ == nullptr) return out_.write(message);
  if (auto passed = pass(); !passed) return passed;
  // Passed again, since others have had their turns.
  while (!stream_->has_room()) {
    // The deadline cancels the handler.
    auto waited = turn_.wait_without(stream_->room(), Deadline::never());
    if (waited) waited = pass();
    if (!waited) return waited;
  }
  MessagePipe::Message copy(message.New());
  copy->CopyFrom(message);
  has_written_ = true;
  return stream_->put(std::move(copy));
}

Result<void> ObjectHost::Gate::pass(bool may_end_turn) {
  auto passed = store_and_check(may_end_turn);
  if (!passed) [[unlikely]]
    return std::move(passed.error()).with_origin(Origin::runtime);
  return passed;
}

Result<void> ObjectHost::Gate::store_and_check(bool may_end_turn) {
  if (!turn_.is_held()) return turn_.lost();
  // A read-only call has changed nothing and may share its turn.
  const bool is_durable = method_.durable && !COROLANE_SEEDED_BUG(reply_before_write);
  if (is_durable && !method_.read_only && cell_.version() != begun_version_) {
    host_.mark_unmarked_change(cell_, method_.full_name);
  }
  // Asked only about a change: has_lease() reads the clock.
  const auto is_to_be_stored = [&] {
    return is_durable || host_.has_too_many_unsaved() || cell_.is_destroyed() || !cell_.has_lease();
  };
  const bool is_stored = cell_.is_changed() && !method_.read_only && is_to_be_stored();
  if (is_stored) {
    // Others that wait for the turn would wait for the store, too.
    const bool shares =
        may_end_turn && is_durable && !cell_.is_destroyed() && cell_.turn().has_waiters();
    auto saved = shares ? store_with_others() : host_.save_for_reply(cell_, method_);
    if (!saved) {
      has_failed_to_store_ = true;
      return saved;
    }
  }
  auto may = host_.check_may_reply(cell_, request_id_, is_stored);
  return may ? may : Result<void>(std::move(may.error()).with_maybe_executed());
}

// The lease may end at any moment, so may_reply() is asked last, and again after a proof.
Result<void> ObjectHost::check_may_reply(ObjectCell& cell, const rpc::RequestId& request_id,
                                         bool is_stored) {
  Proof proof = is_stored && !cell.is_transient() ? Proof::write : Proof::lease;
  if (COROLANE_SEEDED_BUG(reply_without_proof)) proof = Proof::question;
  if (may_reply(cell, request_id, proof)) return {};
  if (proof != Proof::lease || !cell.is_owned()) return cell.moved();
  auto proven = cell.prove(Deadline::after(options_.save_time_max));
  if (!proven) return proven;
  if (!may_reply(cell, request_id, Proof::question)) return cell.moved();
  return {};
}

Result<void> ObjectHost::Gate::store_with_others() {
  rpc::Span wait = rpc::Tracer::wait(host_.surroundings_.tracer, "wait for shared write");
  const auto write = cell_.join_write();
  host_.write_soon(cell_);
  turn_.end();
  auto done = write->done.wait(Deadline::never());  // Each write has a limit of its own.
  if (done) done = write->result;
  if (!done) wait.fail(done.error());
  return done ? done : ObjectHost::not_stored(std::move(done.error()), method_);
}

void ObjectHost::Gate::undo() {
  const bool may_undo = !has_failed_to_store_ && !COROLANE_SEEDED_BUG(nothing_undone);
  if (method_.durable && turn_.is_held() && may_undo) cell_.undo();
}

Error ObjectHost::Gate::remember_failure(Error error) {
  // An outbox repeats a call until it succeeds, so its receivers undo what they have changed.
  const bool stays = remembers(method_, request_id_) && request_id_.scope != outbox_scope &&
                     turn_.is_held() && turn_.has_changed() && !has_remembered_;
  if (!stays) return error;
  cell_.ledger(request_id_).add_failed(request_id_, method_.id, error, cell_.wall_clock().now());
  cell_.mark_changed();
  if (method_.durable) {
    if (auto saved = host_.save_for_reply(cell_, method_); !saved) return std::move(saved.error());
  }
  return std::move(error).with_maybe_executed();
}

Error ObjectHost::Gate::moved() const {
  if (!has_written_) return method_.read_only ? cell_.moved() : cell_.moved().with_maybe_executed();
  return Error(Code::aborted, "\"" + cell_.id() + "\" has moved in the middle of the stream of " +
                                  method_.full_name + "; call again")
      .with_maybe_executed();
}

}  // namespace corolane::framework::detail
