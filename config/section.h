// SPDX-License-Identifier: MIT
// Describes a struct to the loader and to the printer, in one place.
//
//   struct ChessConfig {
//     std::size_t rooms_max = 10'000;
//     Duration clock = 10min;
//   };
//
//   void describe(config::Section& section, ChessConfig& value) {
//     section.field("rooms_max", value.rooms_max, "How many rooms may be open at once.",
//                   config::at_least(1));
//     section.field("clock", value.clock, "Thinking time of each side for the whole game.",
//                   config::between(1s, 24h));
//   }
//
// describe() is found by its arguments: declare it in the namespace of the struct, and before the
// describe() of a struct that contains it. A struct's initial values are the defaults.
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

#include "config/detail/value.h"
#include "config/limits.h"
#include "config/marks.h"
#include "config/units.h"
#include "coroutine/base/result.h"

namespace corolane::config {

namespace detail {

// One key, as describe() names it. Refers to the arguments of field().
struct Field {
  std::string_view key;
  std::string_view help;
  Marks marks;
  Value& value;
};

}  // namespace detail

class Section {
 public:
  using Keys = std::initializer_list<std::string_view>;
  using Rule = std::function<Result<void>()>;

  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  // Describes one key. `value` is a bool, an integer, a double, a std::string, a chrono duration,
  // Bytes, an enum with choices() (config/choice.h), a struct with describe(), or a std::vector or
  // std::optional of these; the limits apply to each value in it. The key is lower_case words,
  // `help` one line for the operator, and the default must be within the limits.
  template <typename T, typename Limit = Limits<>>
  void field(std::string_view key, T& value, std::string_view help, const Limit& limits = {},
             Marks marks = {}) {
    detail::TypedValue<T, Limit> typed(value, limits);
    visit({.key = key, .help = help, .marks = marks, .value = typed});
  }
  template <typename T>
  void field(std::string_view key, T& value, std::string_view help, Marks marks) {
    field(key, value, help, Limits<>(), marks);
  }

  // A key of an older version, and what to set in its place, such as "node.clients.listen". A load
  // that sets the old key fails and names the new one. Where a section has taken over the key of a
  // value, call it before field(): a load that sets the value fails in the same way.
  void moved(std::string_view from, std::string_view to) { visit_moved(from, to); }

  // A constraint between values. `holds` is called once each value is allowed by itself, and
  // returns the violation as an error. It is reported at the first of `keys`, "clock" or
  // "store.kind", that is not a default.
  void rule(Keys keys, const Rule& holds) { visit_rule(keys, holds); }

 protected:
  Section() = default;
  ~Section() = default;

 private:
  virtual void visit(const detail::Field& field) = 0;
  virtual void visit_rule(Keys, const Rule&) {}
  virtual void visit_moved(std::string_view, std::string_view) {}
};

}  // namespace corolane::config
