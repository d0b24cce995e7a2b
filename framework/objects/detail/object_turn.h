// SPDX-License-Identifier: MIT
// The scopes of a call in an object: its visit, its place in the mailbox, its turn, and the gate
// that its reply passes.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/detail/object_visitor.h"
#include "framework/wire/detail/message_pipe.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

// Whether a retried call takes effect only once.
inline bool remembers(const rpc::Method& method, const rpc::RequestId& request_id) {
  return request_id && !method.read_only && !method.one_way;
}

// Keeps a cell while a call or other work is inside.
class ObjectHost::Visit {
 public:
  Visit(ObjectHost& host, ObjectCell& cell) : host_(host), cell_(cell) { ++cell.visitor_count; }
  ~Visit() {
    if (--cell_.visitor_count == 0) host_.end_last_visit(cell_);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  ObjectHost& host_;
  ObjectCell& cell_;
};

// Keeps a cell for work of the object itself, which does not count as use.
class ObjectHost::QuietVisit {
 public:
  QuietVisit(ObjectHost& host, ObjectCell& cell) : host_(host), cell_(cell) {
    ++cell.quiet_visitor_count;
  }
  ~QuietVisit() { host_.end_quiet_visit(cell_); }
  QuietVisit(const QuietVisit&) = delete;
  QuietVisit& operator=(const QuietVisit&) = delete;

 private:
  ObjectHost& host_;
  ObjectCell& cell_;
};

// A call's place in the mailbox of an object, while the call is there.
class ObjectHost::Letter {
 public:
  Letter(ObjectCell& cell, MailboxPart part) : cell_(cell), part_(part) { ++cell_.letters(part_); }
  ~Letter() { leave(); }
  Letter(const Letter&) = delete;
  Letter& operator=(const Letter&) = delete;

  MailboxPart part() const { return part_; }
  void move_to(MailboxPart part) {
    leave();
    part_ = part;
    ++cell_.letters(part_);
    is_inside_ = true;
  }
  void leave() {
    if (std::exchange(is_inside_, false)) --cell_.letters(part_);
  }

 private:
  ObjectCell& cell_;
  MailboxPart part_;
  bool is_inside_ = true;
};

// A turn of a cell, until it ends or is given back.
class ObjectHost::Turn {
 public:
  using Facts = ObjectVisitor::Facts;

  // `letter` belongs to a call and outlives the turn; work of the object itself has none. Every
  // call constructs a turn; GCC would not inline the constructor, since several functions use it.
  [[gnu::always_inline]] Turn(ObjectHost& host, ObjectCell& cell, Facts facts,
                              Letter* letter = nullptr)
      : host_(host), cell_(cell), letter_(letter), visitor_(cell.visitors(), std::move(facts)) {}
  ~Turn() { leave(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool take(bool is_shared, Deadline deadline) {
    is_shared_ = is_shared;
    visitor_.enter(ObjectVisitor::Stage::waiting);
    visitor_.set_shared(is_shared);
    const LongWaits::Wait wait(host_.long_waits_, cell_, visitor_);
    const bool is_taken = wait_for_turn(is_shared, deadline);
    if (is_taken) begin(is_shared);
    return is_taken;
  }
  // A shortcut for the first turn of a call; take() follows when it returns false.
  bool take_at_once(bool is_shared) {
    const bool is_taken =
        is_shared ? cell_.turn().try_shared_shortcut() : cell_.turn().try_shortcut();
    if (!is_taken) return false;
    is_shared_ = is_shared;
    visitor_.set_shared(is_shared);
    begin(is_shared);
    return true;
  }
  // The turn now belongs to a durable method.
  void begin_durable() {
    is_durable_ = true;
    cell_.begin_durable_turn();
  }
  ObjectCell& cell() const { return cell_; }
  const Facts& facts() const { return visitor_.facts(); }
  const ObjectVisitor& visitor() const { return visitor_; }
  // Shows the running handler to others.
  void set_frame(const CallChain::Frame* frame) { visitor_.set_frame(frame); }
  bool is_held() const { return state_ != State::none; }
  // Whether its handler has changed the object, in this turn or in an earlier one.
  bool has_changed() const {
    return has_changed_before_ || (is_held() && cell_.change_number() != number_at_begin_);
  }
  // Its handler waited without a turn and was told to leave.
  bool was_sent_away() const { return was_sent_away_; }
  // The error for a handler that goes on after it has lost its turn.
  Error lost() const;
  // Suspends, without the turn, until there is news of the event.
  Result<void> wait_without(coroutine::Event& event, Deadline deadline);
  // ObjectBase::outside().
  Result<void> run_without(const std::function<void()>& work, Deadline deadline);
  // ObjectBase::wait_until().
  Result<bool> wait_until(const std::function<bool()>& predicate, Deadline deadline);
  void end() {
    if (is_held()) end_held();
  }
  // Its handler has returned: the object may go.
  void leave() {
    end();
    if (std::exchange(is_outside_, false)) cell_.come_back();
  }

 private:
  enum class State : std::uint8_t { none, shared, exclusive };

  void begin(bool is_shared) {
    state_ = is_shared ? State::shared : State::exclusive;
    visitor_.enter(ObjectVisitor::Stage::inside);
    number_at_begin_ = cell_.change_number();
    if (is_durable_) cell_.begin_durable_turn();
  }
  void end_held() {
    const State before = std::exchange(state_, State::none);
    visitor_.enter(ObjectVisitor::Stage::leaving);
    if (before == State::exclusive) cell_.wake_watchers();
    host_.end_turn(cell_);
    before == State::shared ? cell_.turn().unlock_shared() : cell_.turn().unlock();
  }
  bool wait_for_turn(bool is_shared, Deadline deadline);
  template <typename F>
  Result<void> without(F&& wait);
  Result<void> take_again();

  ObjectHost& host_;
  ObjectCell& cell_;
  Letter* const letter_;
  State state_ = State::none;
  bool is_shared_ = false;
  bool is_outside_ = false;  // Its handler runs without a turn.
  bool was_sent_away_ = false;
  bool is_durable_ = false;
  bool has_changed_before_ = false;  // In an earlier turn.
  std::uint64_t number_at_begin_ = 0;
  ObjectVisitor visitor_;
};

// The last step before a reply or a message of a stream leaves: the change is stored if required,
// and the object is still ours. The turn is given back before a reply is sent, and while a stream
// has no room.
class ObjectHost::Gate final : public rpc::Messages {
 public:
  // `stream` is `out`, for a method that replies with a stream; null for any other.
  Gate(ObjectHost& host, Turn& turn, ObjectCell& cell, const rpc::Method& method,
       const rpc::RequestId& request_id, rpc::Messages& out, MessagePipe* stream)
      : host_(host),
        turn_(turn),
        cell_(cell),
        method_(method),
        request_id_(request_id),
        out_(out),
        stream_(stream),
        begun_version_(cell.version()) {}

  Result<void> reply(google::protobuf::Message& message) override;
  Result<void> write(const google::protobuf::Message& message) override;
  // The handler of a stream has ended without an error.
  Result<void> end_stream() { return pass(); }
  // The error of a call whose object has left: it names the new owner, unless the caller has a part
  // of the answer already.
  Error moved() const;
  // The handler of a durable method has failed. Undoes its changes, unless they are on their way to
  // the store already.
  void undo();
  // Called after that for any method: a call whose change stays has taken effect, although it has
  // failed. A retry must not change the object again.
  Error remember_failure(Error error);

 private:
  void remember(const google::protobuf::Message& message);
  // The same as pass() for the usual call: nothing has to be stored, and the lease is valid. False:
  // pass() decides.
  bool passes_at_once() const;
  // Before a reply the turn may end.
  Result<void> pass(bool may_end_turn = false);
  Result<void> store_and_check(bool may_end_turn);
  Result<void> store_with_others();

  ObjectHost& host_;
  Turn& turn_;
  ObjectCell& cell_;
  const rpc::Method& method_;
  const rpc::RequestId& request_id_;
  rpc::Messages& out_;
  MessagePipe* const stream_;
  const std::uint64_t begun_version_;
  bool has_written_ = false;
  bool has_failed_to_store_ = false;
  bool has_remembered_ = false;
};

}  // namespace corolane::framework::detail
