// SPDX-License-Identifier: MIT
// The steps of OwnershipModel, each a change of one state.
//
//   OwnershipModel::Steps(rules, from, visit).take_all();
#pragma once

#include <cstddef>

#include "test/framework/cluster/model/ownership_model.h"

namespace corolane::model {

class OwnershipModel::Steps {
 public:
  Steps(const Rules& rules, const State& from, const Visit& visit)
      : rules_(rules), from_(from), visit_(visit) {}

  void take_all();

 private:
  // A copy of the state that one step changes; `node` is the node that takes it.
  struct Next {
    State state;
    std::size_t self;
    Node& node() { return state.nodes[self]; }
  };

  template <typename F>
  void step(std::size_t self, const char* what, F&& change);
  bool has(Mistake mistake) const { return rules_.mistake == mistake; }

  // Time, leases and crashes: membership_steps.cc.
  void take_time(std::size_t self);
  void take_keepalive(std::size_t self);
  void drop(Next& next) const;
  static void leave_late(Next& next);
  static void leave_store_call_late(Next& next);

  // The owners of the partition: membership_steps.cc.
  void take_look(std::size_t self);
  void take_commits(std::size_t self);
  bool has_owner_key() const;
  void execute(State& state, Commit& commit) const;
  void answer_commit(Next& next) const;
  void look(Next& next) const;

  // Calls of the object: object_steps.cc.
  void take_calls(std::size_t self);
  void take_store_call(std::size_t self);
  void begin_call(Next& next, Call::Kind kind) const;
  void make_ready(Next& next) const;
  void end_handler(Next& next) const;
  void answer_store_call(Next& next) const;
  void give_up(Next& next) const;
  void store_change(Next& next) const;
  void lose(Next& next) const;
  void reply(Next& next, bool is_by_lease) const;
  static void ask(Next& next, StoreCall::Kind kind, Call::Phase phase);
  static void end_call(Next& next) { next.node().call = {}; }
  bool may_serve(const Node& node) const;

  // The store, and the invariants: store_steps.cc.
  void take_store_faults();
  void execute(State& state, StoreCall& call, std::size_t self, bool is_late) const;
  void use(State& state, std::size_t self, Revision epoch, Changes content, bool is_by_lease) const;
  static void violate(State& state, State::Violation violation);

  const Rules& rules_;
  const State& from_;
  const Visit& visit_;
};

template <typename F>
void OwnershipModel::Steps::step(std::size_t self, const char* what, F&& change) {
  static constexpr const char* names[] = {"A", "B", "store"};
  Next next{.state = from_, .self = self};
  change(next);
  if (next.state.acknowledged & ~next.state.row.content) violate(next.state, State::i3);
  visit_({.actor = names[self], .what = what}, next.state);
}

}  // namespace corolane::model
