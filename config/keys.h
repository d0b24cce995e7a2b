// SPDX-License-Identifier: MIT
// All keys of a configuration as a list: what an operator may set, the values in effect, and the
// changes from one configuration to the next.
//
//   const auto changes = config::changes(config::keys(now), config::keys(next));
//   const ChessConfig merged = config::with_live(now, next);  // Applies what a reload may change.
#pragma once

#include <any>
#include <map>
#include <string>
#include <vector>

#include "config/detail/rules.h"
#include "config/marks.h"
#include "config/origins.h"
#include "config/section.h"
#include "coroutine/base/result.h"

namespace corolane::config {

// One value that can be set by itself: a list is one, a section is not.
struct Key {
  std::string path;     // "chess.clock".
  std::string help;     // One or more sentences.
  std::string type;     // "duration", "list of text".
  std::string allowed;  // "at least 1"; may be empty.
  Marks marks;          // Those of its sections included.
  std::string value;    // YAML, on one line.
  std::string shown;    // The same with secrets hidden.
};

// A changed secret has the same text before and after.
struct Change {
  std::string path;
  std::string before;
  std::string after;
  bool is_live = false;

  friend bool operator==(const Change&, const Change&) = default;
};

namespace detail {

using LiveValues = std::map<std::string, std::any>;

std::vector<Key> keys_of(Value& root);
LiveValues live_values(Value& root);
void assign_live(Value& root, const LiveValues& values);

}  // namespace detail

// In the order in which describe() names them.
template <detail::Described T>
std::vector<Key> keys(const T& value) {
  T copy = value;
  detail::TypedValue<T, Limits<>> root(copy, {});
  return detail::keys_of(root);
}

// The keys whose values differ between two values of the same type.
std::vector<Change> changes(const std::vector<Key>& before, const std::vector<Key>& after);

// `current` with the live values of `wanted`. The result may break rules that both arguments obey:
// see obeys_rules().
template <detail::Described T>
T with_live(const T& current, const T& wanted) {
  T result = current;
  T copy = wanted;
  detail::TypedValue<T, Limits<>> from(copy, {});
  detail::TypedValue<T, Limits<>> to(result, {});
  detail::assign_live(to, detail::live_values(from));
  return result;
}

// Fails as a load does, with a line for each broken rule of `value`.
template <detail::Described T>
Result<void> obeys_rules(const T& value, const Origins& origins = {}) {
  T copy = value;
  detail::TypedValue<T, Limits<>> root(copy, {});
  return detail::check_rules(root, origins);
}

}  // namespace corolane::config
