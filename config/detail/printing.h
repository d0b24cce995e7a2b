// Lays out values as YAML that loads again and explains itself: help above each key, the origin of
// its value behind it.
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

// Whether print() shows what is marked as secret.
enum class Secrets : std::uint8_t { hidden, shown };

namespace detail {

class Value;
struct Field;

// In place of a secret.
inline constexpr std::string_view hidden_text = "***";

// Where on the page a value is printed. A value is text on one line, or a block of lines, each
// with a line break before it.
class Printing {
 public:
  // `origins` has to outlive it. Without: all on one line, in braces and brackets, without help.
  Printing(const Origins* origins, Secrets secrets) : origins_(origins), secrets_(secrets) {}

  // For the value of a key with these marks, and for the element of a list.
  Printing indented(Marks marks = {}) const;
  Printing element(std::size_t index) const;

  std::string list(const std::vector<std::string>& elements) const;
  // Runs `describe` with a section that prints each field.
  std::string section(const std::string& path, const std::function<void(Section&)>& describe) const;
  std::string field(const std::string& path, const Field& field) const;
  // The value of a key that has these marks.
  std::string value(const std::string& path, Marks marks, Value& value) const;

 private:
  std::string origin(const std::string& path) const;

  const Origins* origins_ = nullptr;  // Null on one line.
  Secrets secrets_;
  Marks marks_ = {};  // Of the sections around it.
  std::size_t indent_ = 0;
  bool explains_ = true;  // Help is printed for the first element of a list only.
};

}  // namespace detail
}  // namespace corolane::config
