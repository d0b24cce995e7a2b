// SPDX-License-Identifier: MIT
// Steps 1 to 4, 8 and 9 of the protocol: leases, the fence, claims and hand-overs.
#include "test/framework/cluster/model/ownership_steps.h"

namespace corolane::model {

void OwnershipModel::Steps::take_all() {
  for (const std::size_t self : {0, 1}) {
    take_time(self);
    take_keepalive(self);
    take_look(self);
    take_commits(self);
    take_calls(self);
    take_store_call(self);
  }
  take_store_faults();
  if (from_.late_commit.kind != Commit::none) {
    step(2, "executes a late transaction (the directory)", [&](Next& next) {
      execute(next.state, next.state.late_commit);
      next.state.late_commit = {};
    });
  }
}

// What nobody waits for may still take effect. There is room for one of each kind.
void OwnershipModel::Steps::leave_late(Next& next) {
  Node& node = next.node();
  leave_store_call_late(next);
  if (node.commit.kind != Commit::none && node.commit.phase == Commit::on_its_way) {
    next.state.late_commit = node.commit;
  }
  node.store_call = {};
  node.commit = {};
}

// The node drops all that it owned; it may join again.
void OwnershipModel::Steps::drop(Next& next) const {
  leave_late(next);
  next.node() = {};
}

void OwnershipModel::Steps::take_time(std::size_t self) {
  const Node& node = from_.nodes[self];
  const bool is_member = node.key != 0;
  if (is_member && node.is_in_time != 0) {
    step(self, "passes its fence", [](Next& next) { next.node().is_in_time = 0; });
  }
  // The lease of a kept alive node outlives the fence that its answer sets.
  const bool is_former_life = from_.keys[self] != node.key;
  const bool is_after_fence = node.is_in_time == 0 || has(Mistake::fence_after_lease);
  const bool may_be_kept = node.is_kept != 0 && !has(Mistake::late_keepalive);
  if (from_.keys[self] != 0 && (is_former_life || (is_after_fence && !may_be_kept))) {
    step(self, "loses its key in the directory", [&](Next& next) { next.state.keys[self] = 0; });
  }
  if (is_member && from_.faults_left > 0) {
    step(self, "crashes and starts again", [&](Next& next) {
      --next.state.faults_left;
      drop(next);
    });
  }
  if (is_member && node.is_in_time == 0 && !rules_.serves_by_store) {
    step(self, "drops what it owned", [&](Next& next) { drop(next); });
  }
  // Its former lease has expired, or it revokes it.
  if (!is_member && from_.revision < rules_.revision_max) {
    step(self, "joins", [&](Next& next) {
      next.state.keys[self] = next.node().key = ++next.state.revision;
      next.node().is_in_time = 1;
    });
  }
}

// Only those that are sent after the fence change anything here: before, it may pass later.
void OwnershipModel::Steps::take_keepalive(std::size_t self) {
  const Node& node = from_.nodes[self];
  if (node.key == 0 || node.is_in_time != 0 || !rules_.serves_by_store) return;
  if (node.is_kept == 0) {
    if (from_.keys[self] != node.key) return;  // It hears that, as when it reads the directory.
    return step(self, "keeps its lease alive", [](Next& next) { next.node().is_kept = 1; });
  }
  step(self, return_to_lease, [](Next& next) {
    next.node().is_kept = 0;
    next.node().is_in_time = 1;
  });
  step(self, "hears of its lease too late", [](Next& next) { next.node().is_kept = 0; });
}

// The table of a node follows the directory, some time later.
void OwnershipModel::Steps::look(Next& next) const {
  State& state = next.state;
  Node& node = next.node();
  if (state.keys[next.self] != node.key) return drop(next);
  const bool is_mine = state.owner == next.self && state.owner_key == node.key;
  node.epoch = is_mine ? state.epoch : 0;
  node.moves = 0;
  if (node.object.epoch != node.epoch && node.call.kind == Call::none) node.object = {};
}

void OwnershipModel::Steps::take_look(std::size_t self) {
  const Node& node = from_.nodes[self];
  if (node.key == 0 || node.moves != 0) return;
  const bool is_mine = from_.owner == self && from_.owner_key == node.key;
  const bool has_news = node.epoch != (is_mine ? from_.epoch : 0) || from_.keys[self] != node.key;
  if (has_news) step(self, "reads the directory", [&](Next& next) { look(next); });
}

bool OwnershipModel::Steps::has_owner_key() const {
  return from_.keys[from_.owner] == from_.owner_key;
}

void OwnershipModel::Steps::take_commits(std::size_t self) {
  const Node& node = from_.nodes[self];
  const std::size_t other = 1 - self;
  const auto self_number = static_cast<std::uint8_t>(self);
  // A node that does not hear from the directory claims nothing and hands nothing over.
  if (node.key != 0 && node.is_in_time != 0 && node.commit.kind == Commit::none) {
    if (node.moves == 0 && !has_owner_key()) {
      step(self, "claims the partition", [&](Next& next) {
        next.node().commit = {.kind = Commit::claim,
                              .node = self_number,
                              .node_key = node.key,
                              .seen = next.state.epoch};
      });
    }
    const bool is_free = node.call.kind == Call::none && node.store_call.kind == StoreCall::none &&
                         node.object.hides_change == 0;
    if (rules_.hands_over && node.epoch != 0 && node.moves == 0 && is_free &&
        from_.keys[other] != 0) {
      step(self, "releases the partition and hands it over", [&](Next& next) {
        Node& giver = next.node();
        giver.object = {};
        giver.moves = 1;
        giver.commit = {.kind = Commit::give,
                        .node = static_cast<std::uint8_t>(other),
                        .node_key = next.state.keys[other],
                        .seen = giver.epoch};
      });
    }
    if (node.moves != 0) {
      step(self, "claims again what it may have handed over", [&](Next& next) {
        if (has(Mistake::unknown_hand_over_read)) return look(next);
        next.node().commit = {.kind = Commit::take_back,
                              .node = self_number,
                              .node_key = node.key,
                              .seen = node.epoch};
      });
    }
  }
  if (node.commit.kind == Commit::none) return;
  if (node.commit.phase == Commit::on_its_way) {
    step(self, "has a transaction executed",
         [&](Next& next) { execute(next.state, next.node().commit); });
  } else {
    step(self, "hears of its transaction", [&](Next& next) { answer_commit(next); });
  }
  if (from_.late_commit.kind == Commit::none && from_.faults_left > 0) {
    step(self, "never hears of its transaction", [&](Next& next) {
      --next.state.faults_left;
      if (next.node().commit.phase == Commit::on_its_way) {
        next.state.late_commit = next.node().commit;
      }
      next.node().commit = {};
    });
  }
}

void OwnershipModel::Steps::execute(State& state, Commit& commit) const {
  const bool compares = commit.kind == Commit::give ? !has(Mistake::hand_over_without_compare)
                                                    : !has(Mistake::claim_without_compare);
  const bool is_as_seen = !compares || state.epoch == commit.seen;
  const bool is_there = state.keys[commit.node] == commit.node_key;
  const bool has_owner = state.keys[state.owner] == state.owner_key;
  const bool is_free = commit.kind != Commit::claim || !has_owner || !compares;
  commit.phase = Commit::refused;
  if (!is_as_seen || !is_there || !is_free || state.revision >= rules_.revision_max) return;
  state.owner = commit.node;
  state.owner_key = commit.node_key;
  commit.seen = state.epoch = ++state.revision;
  commit.phase = Commit::done;
}

void OwnershipModel::Steps::answer_commit(Next& next) const {
  Node& node = next.node();
  const Commit commit = node.commit;
  node.commit = {};
  if (commit.phase == Commit::refused) return look(next);
  node.moves = 0;
  node.epoch = commit.kind == Commit::give ? 0 : commit.seen;
}

}  // namespace corolane::model
