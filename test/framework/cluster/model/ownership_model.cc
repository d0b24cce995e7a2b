// SPDX-License-Identifier: MIT
// The first state of the model, and states as text.
#include "test/framework/cluster/model/ownership_model.h"

#include <string>

#include "test/framework/cluster/model/ownership_steps.h"

namespace corolane::model {
namespace {

std::string number(unsigned value) { return std::to_string(value); }

std::string text_of(const Object& object) {
  if (object.is_active == 0) return "";
  return ", object under " + number(object.epoch) + " v" + number(object.version) + " {" +
         number(object.content) + "}" + (object.hides_change != 0 ? " unsure" : "");
}

std::string text_of(const Call& call) {
  static constexpr const char* kinds[] = {"", "read", "write", "message"};
  static constexpr const char* phases[] = {"activates", "seals late", "finds out",
                                           "stores",    "runs",       "proves"};
  if (call.kind == Call::none) return "";
  return std::string(", a ") + kinds[call.kind] + " " + phases[call.phase];
}

std::string text_of(const Node& node) {
  if (node.key == 0) return "is outside";
  return std::string("key ") + number(node.key) + (node.is_in_time != 0 ? "" : " past its fence") +
         (node.epoch != 0 ? ", owner " + number(node.epoch) : "") +
         (node.moves != 0 ? " moves" : "") + text_of(node.object) + text_of(node.call);
}

}  // namespace

std::string_view State::violation() const {
  static constexpr std::string_view names[] = {"", "I1", "I3", "I7", "I8"};
  return names[violated];
}

std::string State::describe() const {
  const std::string sealed = row.exists == 0
                                 ? "no row"
                                 : "row sealed by " + number(row.epoch) + " v" +
                                       number(row.version) + " {" + number(row.content) + "}";
  return "A " + text_of(nodes[0]) + "; B " + text_of(nodes[1]) + "; directory: keys " +
         number(keys[0]) + " " + number(keys[1]) + ", owner " + (owner == 0 ? "A " : "B ") +
         number(epoch) + "; " + sealed + "; heard " + number(heard_epoch) + " {" + number(heard) +
         "}";
}

State OwnershipModel::begin() const {
  State state;
  state.keys = {1, 2};
  state.owner_key = 1;
  state.epoch = state.revision = 3;
  state.nodes[0].key = 1;
  state.nodes[0].epoch = 3;
  state.nodes[1].key = 2;
  for (Node& node : state.nodes) node.is_in_time = 1;
  state.calls_left = rules_.call_count;
  state.faults_left = rules_.fault_count;
  state.lost_seals_left = rules_.lost_seal_count;
  return state;
}

void OwnershipModel::steps(const State& from, const Visit& visit) const {
  Steps(rules_, from, visit).take_all();
}

}  // namespace corolane::model
