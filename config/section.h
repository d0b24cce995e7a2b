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
// describe() of a struct that contains it. What a struct holds by default is the default.
#pragma once

#include <string_view>

#include "config/detail/value.h"
#include "config/limits.h"
#include "config/units.h"

namespace corolane::config {

class Section {
 public:
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  // One key. `value` is a bool, an integer, a double, a std::string, a chrono duration, Bytes, an
  // enum with choices() (config/choice.h), a struct with describe(), or a std::vector or
  // std::optional of these; limits are for each value in it. The key is lower_case words, `help`
  // one line for the operator, and the default has to be within the limits.
  template <typename T, typename Limit = Limits<>>
  void field(std::string_view key, T& value, std::string_view help, const Limit& limits = {}) {
    detail::TypedValue<T, Limit> typed(value, limits);
    visit(key, help, typed);
  }

 protected:
  Section() = default;
  ~Section() = default;

 private:
  virtual void visit(std::string_view key, std::string_view help, detail::Value& value) = 0;
};

}  // namespace corolane::config
