// SPDX-License-Identifier: MIT
// Visits every state that a model can reach, and finds the shortest way to a forbidden one.
//
//   const auto explored = explore(begin, [&](const State& from, const auto& visit) {
//     visit({.actor = "A", .what = "crashes"}, after_crash(from));
//   });
//   EXPECT_EQ(explored.violation, "") << explored.trace;
//
// `State` is a plain struct of bytes without padding: equal states have equal bytes. It has
// `violation()`, the name of what it violates or nothing, and `describe()`, a line for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace corolane::model {

// For a trace. Both are literals.
struct Step {
  const char* actor = "";
  const char* what = "";
};

struct Explored {
  std::size_t state_count = 0;
  std::size_t depth = 0;             // Of the last state that was visited.
  std::set<std::string_view> steps;  // That were taken at least once.
  std::string violation;             // Empty: no reachable state violates anything.
  std::string trace;                 // The steps that lead to the violation, one a line.
  bool is_complete = false;          // Neither a violation nor the limit ended the search.
};

// Breadth first, so that the trace is as short as any. `steps(state, visit)` calls
// `visit(step, next)` for each step that is possible in `state`.
template <typename State, typename Steps>
Explored explore(const State& begin, const Steps& steps, std::size_t state_count_max) {
  static_assert(std::has_unique_object_representations_v<State>);
  struct Origin {
    std::uint32_t parent;
    std::uint32_t depth;
    Step step;
  };
  Explored explored;
  std::vector<State> states{begin};
  std::vector<Origin> origins{{.parent = 0, .depth = 0, .step = {}}};
  const auto hash = [&](std::uint32_t i) {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(&states[i]), sizeof(State)});
  };
  const auto equal = [&](std::uint32_t a, std::uint32_t b) { return states[a] == states[b]; };
  std::unordered_set<std::uint32_t, decltype(hash), decltype(equal)> known(1024, hash, equal);
  known.reserve(state_count_max / 2);
  known.insert(0);

  const auto trace_of = [&](std::uint32_t last) {
    std::string trace;
    for (std::uint32_t i = last; i != 0; i = origins[i].parent) {
      trace.insert(0, std::string(origins[i].step.actor) + " " + origins[i].step.what + "\n      " +
                          states[i].describe() + "\n");
    }
    return trace;
  };
  for (std::uint32_t i = 0; i < states.size(); ++i) {
    explored.depth = origins[i].depth;
    explored.state_count = states.size();
    if (states.size() > state_count_max) return explored;
    const State from = states[i];  // The vector grows below.
    if (!from.violation().empty()) {
      explored.violation = from.violation();
      explored.trace = trace_of(i);
      return explored;
    }
    steps(from, [&](const Step& step, const State& next) {
      states.push_back(next);
      explored.steps.insert(step.what);
      const auto added = static_cast<std::uint32_t>(states.size() - 1);
      if (!known.insert(added).second) return states.pop_back();
      origins.push_back({.parent = i, .depth = origins[i].depth + 1, .step = step});
    });
  }
  explored.is_complete = true;
  return explored;
}

}  // namespace corolane::model
