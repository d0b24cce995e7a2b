// SPDX-License-Identifier: MIT
// Steps 5 to 7 of the protocol: an object is activated, serves, and is stored.
#include <algorithm>

#include "test/framework/cluster/model/ownership_steps.h"

namespace corolane::model {

// Whether the node acts as the owner at all; a reply may need a proof in addition.
bool OwnershipModel::Steps::may_serve(const Node& node) const {
  if (node.is_in_time == 0 && rules_.is_transient && !has(Mistake::transient_served)) return false;
  return node.is_in_time != 0 || rules_.serves_by_store || has(Mistake::reply_after_fence);
}

void OwnershipModel::Steps::ask(Next& next, StoreCall::Kind kind, Call::Phase phase) {
  Node& node = next.node();
  const Object& object = node.object;
  node.store_call = {.kind = kind, .epoch = object.is_active != 0 ? object.epoch : node.epoch};
  if (kind == StoreCall::write) node.store_call.version = object.version;
  if (kind == StoreCall::write || kind == StoreCall::prove) {
    node.store_call.content = object.content;
  }
  node.call.phase = phase;
}

void OwnershipModel::Steps::take_calls(std::size_t self) {
  const Node& node = from_.nodes[self];
  if (node.key == 0) return;
  if (node.call.kind == Call::none && node.store_call.kind == StoreCall::none) {
    if (node.epoch == 0 || node.moves != 0) return;
    if (from_.calls_left > 0 && may_serve(node)) {
      step(self, "begins a read", [&](Next& next) { begin_call(next, Call::read); });
      if (rules_.sends_messages) {
        step(self, "begins to send a message",
             [&](Next& next) { begin_call(next, Call::message); });
      }
      if (from_.changes_made < rules_.change_count && !rules_.is_transient) {
        step(self, "begins a write", [&](Next& next) { begin_call(next, Call::write); });
      }
    }
    if (node.object.is_active != 0 && node.object.hides_change == 0 && node.object.version == 0 &&
        !rules_.is_transient) {
      step(self, "lets the idle object go, and releases its row", [&](Next& next) {
        ask(next, StoreCall::release, Call::activating);
        next.node().object = {};
      });
    }
  }
  if (node.call.kind != Call::none && node.call.phase == Call::running) {
    step(self, "ends its handler", [&](Next& next) { end_handler(next); });
  }
}

void OwnershipModel::Steps::begin_call(Next& next, Call::Kind kind) const {
  State& state = next.state;
  Call& call = next.node().call;
  --state.calls_left;
  call.kind = kind;
  if (kind == Call::write) call.change = static_cast<Changes>(1U << state.changes_made++);
  if (kind != Call::message) {
    call.heard_epoch = state.heard_epoch;
    call.heard = state.heard;
  }
  make_ready(next);
}

void OwnershipModel::Steps::make_ready(Next& next) const {
  Node& node = next.node();
  if (node.object.is_active != 0 && node.object.epoch != node.epoch) node.object = {};
  if (node.object.is_active != 0) {
    if (node.object.hides_change != 0) return ask(next, StoreCall::seal, Call::finding_out);
    node.call.phase = Call::running;
  } else if (rules_.is_transient) {
    node.object = {.is_active = 1, .epoch = node.epoch};
    node.call.phase = Call::running;
  } else {
    const bool only_loads = has(Mistake::no_seal) || has(Mistake::load_before_seal);
    ask(next, only_loads ? StoreCall::load : StoreCall::seal, Call::activating);
  }
}

// The gate of the reply.
void OwnershipModel::Steps::end_handler(Next& next) const {
  Node& node = next.node();
  if (node.epoch != node.object.epoch || !may_serve(node)) return end_call(next);
  node.call.has_run = 1;
  const bool is_by_store = node.is_in_time == 0 && rules_.serves_by_store;
  if (node.call.kind == Call::write) {
    node.object.content |= node.call.change;
    if (has(Mistake::reply_before_write)) {
      reply(next, /*is_by_lease=*/true);
      node.call.kind = Call::none;
      return;
    }
    if (!is_by_store || !has(Mistake::change_not_stored)) return store_change(next);
  }
  if (!is_by_store || has(Mistake::reply_without_proof)) return reply(next, /*is_by_lease=*/true);
  const bool needs_none =
      (has(Mistake::message_without_proof) && node.call.kind == Call::message) ||
      (has(Mistake::proof_of_earlier_call) && node.was_proven != 0) ||
      has(Mistake::transient_served);
  if (needs_none) {
    use(next.state, next.self, node.object.epoch, node.object.content, /*is_by_lease=*/false);
    return reply(next, /*is_by_lease=*/false);
  }
  ask(next, has(Mistake::proof_without_epoch) ? StoreCall::load : StoreCall::prove, Call::proving);
}

void OwnershipModel::Steps::store_change(Next& next) const {
  next.node().object.hides_change = 1;
  ask(next, StoreCall::write, Call::storing);
}

// The store has a later owner.
void OwnershipModel::Steps::lose(Next& next) const {
  Node& node = next.node();
  // Another node could claim the partition, so this node's key is gone.
  if (node.is_in_time == 0 && rules_.serves_by_store) return drop(next);
  node.object = {};
  end_call(next);
}

void OwnershipModel::Steps::take_store_call(std::size_t self) {
  const Node& node = from_.nodes[self];
  if (node.store_call.kind == StoreCall::none) return;
  if (node.store_call.phase == StoreCall::on_its_way) {
    step(self, "has its store call executed",
         [&](Next& next) { execute(next.state, next.node().store_call, self, /*is_late=*/false); });
  } else {
    const bool is_proof = node.is_in_time == 0 && node.call.phase == Call::proving;
    step(self, is_proof ? proven_reply : "hears from the store",
         [&](Next& next) { answer_store_call(next); });
  }
  if (from_.late_store_call.kind == StoreCall::none && from_.faults_left > 0) {
    step(self, "never hears from the store", [&](Next& next) {
      --next.state.faults_left;
      give_up(next);
    });
  }
}

void OwnershipModel::Steps::give_up(Next& next) const {
  leave_store_call_late(next);
  end_call(next);
}

void OwnershipModel::Steps::answer_store_call(Next& next) const {
  Node& node = next.node();
  const StoreCall answer = node.store_call;
  node.store_call = {};
  if (node.call.kind == Call::none) return;  // The release of a seal.
  Object& object = node.object;
  const bool is_refused = answer.phase == StoreCall::refused;
  switch (node.call.phase) {
    case Call::activating:
      if (is_refused) return lose(next);
      object = {.is_active = 1,
                .epoch = answer.epoch,
                .version = answer.version,
                .content = answer.content};
      if (has(Mistake::load_before_seal)) return ask(next, StoreCall::seal, Call::sealing_late);
      node.call.phase = Call::running;
      return;
    case Call::sealing_late:
      if (is_refused) return lose(next);
      node.call.phase = Call::running;
      return;
    case Call::storing:
      if (is_refused) return ask(next, StoreCall::seal, Call::finding_out);
      ++object.version;
      object.hides_change = 0;
      node.call.phase = Call::running;
      if (node.call.has_run == 0) return;
      if (node.epoch != object.epoch || !may_serve(node)) return end_call(next);
      return reply(next, node.is_in_time != 0);
    case Call::finding_out:
      if (is_refused) return lose(next);
      // A write of ours may have been late. Otherwise the store was set back.
      if (answer.version != object.version && answer.version != object.version + 1) {
        object = {};
        return end_call(next);
      }
      object.version = answer.version;
      return store_change(next);
    case Call::proving:
      if (is_refused) return lose(next);
      node.was_proven = has(Mistake::proof_of_earlier_call) ? 1 : 0;
      if (node.epoch != object.epoch || !may_serve(node)) return end_call(next);
      return reply(next, node.is_in_time != 0);
    case Call::running:
      return;
  }
}

// The reply leaves. Without a lease, the store has seen the ownership being used.
void OwnershipModel::Steps::reply(Next& next, bool is_by_lease) const {
  State& state = next.state;
  const Object object = next.node().object;
  const Call call = next.node().call;
  if (is_by_lease) use(state, next.self, object.epoch, object.content, /*is_by_lease=*/true);
  if (call.kind != Call::message) {
    if (object.epoch < call.heard_epoch) violate(state, State::i7);
    if (call.heard & ~object.content) violate(state, State::i8);
    state.heard_epoch = std::max(state.heard_epoch, object.epoch);
    state.heard |= object.content;
    state.acknowledged |= call.change;
  }
  end_call(next);
}

}  // namespace corolane::model
