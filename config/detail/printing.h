// Lays out values as YAML that loads again and explains itself: help above each key, the origin of
// its value behind it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "config/origins.h"

namespace corolane::config {

class Section;

namespace detail {

class Value;

// Where on the page a value is printed. A value is text on one line, or a block of lines, each
// with a line break before it.
class Printing {
 public:
  // `origins` has to outlive it.
  explicit Printing(const Origins& origins) : origins_(origins) {}

  // For the value of a key, and for the element of a list.
  Printing indented() const;
  Printing element(std::size_t index) const;

  std::string list(const std::vector<std::string>& elements) const;
  // Runs `describe` with a section that prints each field.
  std::string section(const std::string& path, const std::function<void(Section&)>& describe) const;
  std::string field(const std::string& path, std::string_view key, std::string_view help,
                    Value& value) const;

 private:
  const Origins& origins_;
  std::size_t indent_ = 0;
  bool explains_ = true;  // Help is printed for the first element of a list only.
};

}  // namespace detail
}  // namespace corolane::config
