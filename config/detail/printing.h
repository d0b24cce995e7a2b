// SPDX-License-Identifier: MIT
// Lays out values as YAML that can be loaded again and explains itself: help above each key, the
// origin of its value behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/marks.h"
#include "config/origins.h"

namespace corolane::config {

class Section;

// Whether print() shows secrets.
enum class Secrets : std::uint8_t { hidden, shown };

namespace detail {

class Value;
struct Field;

// Printed in place of a secret.
inline constexpr std::string_view hidden_text = "***";

// The position at which a value is printed. A value is text on one line, or a block of lines, each
// preceded by a line break.
class Printing {
 public:
  // `origins` must outlive it. Null: all on one line, in braces and brackets, without help.
  Printing(const Origins* origins, Secrets secrets) : origins_(origins), secrets_(secrets) {}

  // For the value of a key with `marks`, and for the element of a list.
  Printing indented(Marks marks = {}) const;
  Printing element(std::size_t index) const;

  std::string list(const std::vector<std::string>& elements) const;
  // Runs `describe` with a section that prints each field.
  std::string section(const std::string& path, const std::function<void(Section&)>& describe) const;
  std::string field(const std::string& path, const Field& field) const;
  // The value of a key with `marks`.
  std::string value(const std::string& path, Marks marks, Value& value) const;

 private:
  std::string origin(const std::string& path) const;

  const Origins* origins_ = nullptr;  // Null when printing on one line.
  Secrets secrets_;
  Marks marks_ = {};  // The marks of the enclosing sections.
  std::size_t indent_ = 0;
  bool explains_ = true;  // Help is printed for the first element of a list only.
};

}  // namespace detail
}  // namespace corolane::config
