// SPDX-License-Identifier: MIT
// The store, what it may do wrong, and the invariants.
#include <algorithm>
#include <utility>

#include "test/framework/cluster/model/ownership_steps.h"

namespace corolane::model {

void OwnershipModel::Steps::take_store_faults() {
  constexpr std::size_t store = 2;
  if (from_.late_store_call.kind != StoreCall::none) {
    step(store, "executes a late call", [&](Next& next) {
      execute(next.state, next.state.late_store_call, 0, /*is_late=*/true);
      next.state.late_store_call = {};
    });
    step(store, "never gets a call", [](Next& next) { next.state.late_store_call = {}; });
  }
  if (from_.lost_seals_left > 0 && from_.row.exists != 0 && from_.row.epoch > 3 &&
      from_.row.written_by != from_.row.epoch) {
    step(store, "forgets the last seal", [](Next& next) {
      --next.state.lost_seals_left;
      next.state.row.epoch = 3;
    });
  }
}

void OwnershipModel::Steps::leave_store_call_late(Next& next) {
  StoreCall call = std::exchange(next.node().store_call, {});
  if (call.kind == StoreCall::prove) call = {.kind = StoreCall::seal, .epoch = call.epoch};
  const bool has_effect = call.kind != StoreCall::none && call.kind != StoreCall::load;
  if (has_effect && call.phase == StoreCall::on_its_way) next.state.late_store_call = call;
}

void OwnershipModel::Steps::execute(State& state, StoreCall& call, std::size_t self,
                                    bool is_late) const {
  Row& row = state.row;
  call.phase = StoreCall::refused;
  switch (call.kind) {
    case StoreCall::none:
      return;
    case StoreCall::load:
      break;
    case StoreCall::seal:
    case StoreCall::prove:
      if (row.exists != 0 ? call.epoch < row.epoch : call.epoch < state.floor) return;
      row.exists = 1;
      row.epoch = call.epoch;
      break;
    case StoreCall::write: {
      const bool is_epoch = row.epoch == call.epoch || has(Mistake::write_without_epoch);
      const bool is_version = row.version == call.version || has(Mistake::write_without_version);
      if (row.exists == 0 || !is_epoch || !is_version) return;
      row.written_by = call.epoch;
      row.version = static_cast<std::uint8_t>(call.version + 1);
      row.content = call.content;
      break;
    }
    case StoreCall::release:
      if (row.exists != 0 && row.epoch == call.epoch && row.version == 0) {
        row = {};
        if (!has(Mistake::no_floor)) state.floor = std::max(state.floor, call.epoch);
      }
      break;
  }
  call.phase = StoreCall::done;
  const bool is_proof = call.kind == StoreCall::prove || call.kind == StoreCall::write ||
                        (call.kind == StoreCall::load && has(Mistake::proof_without_epoch));
  if (is_proof && !is_late && rules_.serves_by_store) {
    use(state, self, call.epoch, call.content, /*is_by_lease=*/false);
  }
  if (call.kind == StoreCall::seal || call.kind == StoreCall::load) {
    call.version = row.version;
    call.content = row.content;
  }
}

// The owner of that epoch acts as the owner, and shows that content.
void OwnershipModel::Steps::use(State& state, std::size_t self, Revision epoch, Changes content,
                                bool is_by_lease) const {
  const Revision key = state.nodes[self].key;
  const bool is_past = epoch < state.moment_epoch;
  const bool is_anothers = epoch == state.moment_epoch && key != state.moment_key;
  const bool is_owner = state.epoch == epoch && state.owner_key == key && state.keys[self] == key;
  if (is_past || is_anothers || (is_by_lease && !is_owner)) violate(state, State::i1);
  if (state.row.written_by != epoch && (state.row.content & ~content) != 0) {
    violate(state, State::i8);
  }
  state.moment_epoch = epoch;
  state.moment_key = key;
}

void OwnershipModel::Steps::violate(State& state, State::Violation violation) {
  if (state.violated == State::nothing) state.violated = violation;
}

}  // namespace corolane::model
