// SPDX-License-Identifier: MIT
#include "framework/admin/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"

namespace corolane::framework::detail {
namespace {

constexpr std::size_t indent_width = 2;

// A string or a number, as the library writes it.
std::string scalar_text(const nlohmann::json& scalar, bool in_ascii) {
  return scalar.dump(-1, ' ', in_ascii, nlohmann::json::error_handler_t::replace);
}

// Writes brackets with a line for each element; append_element() writes one.
template <typename Elements, typename Append>
void append_lines(std::string& text, std::string_view brackets, std::size_t indent,
                  const Elements& elements, Append append_element) {
  text.push_back(brackets.front());
  bool is_first = true;
  for (const auto& element : elements) {
    text.append(is_first ? "\n" : ",\n").append(indent + indent_width, ' ');
    append_element(element);
    is_first = false;
  }
  if (!is_first) text.append("\n").append(indent, ' ');
  text.push_back(brackets.back());
}

// Builds the value as the library reads it: the members of objects keep their order.
class Reader {
 public:
  bool null() { return add(Json()); }
  bool boolean(bool truth) { return add(Json(truth)); }
  bool number_integer(std::int64_t number) { return add(Json(number)); }
  bool number_unsigned(std::uint64_t number) { return add(Json(number)); }
  bool number_float(double number, const std::string&) { return add(Json(number)); }
  bool string(std::string& text) { return add(Json(text)); }
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool start_object(std::size_t) { return begin(Json::object()); }
  bool key(std::string& text) {
    open_.back().key = std::move(text);
    return true;
  }
  bool end_object() { return end(); }
  bool start_array(std::size_t) { return begin(Json::array()); }
  bool end_array() { return end(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) {
    return false;
  }

  Json take() { return std::move(whole_); }

 private:
  // Deeper than any page; the recursive destructor of a value takes stack for each level.
  static constexpr std::size_t depth_max = 64;

  struct Open {
    Json value;
    std::string key = {};  // Of the next member.
  };

  bool begin(Json value) {
    if (open_.size() == depth_max) return false;
    open_.push_back({.value = std::move(value)});
    return true;
  }
  bool end() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(value));
  }
  bool add(Json value) {
    if (open_.empty()) {
      whole_ = std::move(value);
    } else if (std::holds_alternative<Json::Array>(open_.back().value.value())) {
      open_.back().value.push_back(std::move(value));
    } else {
      open_.back().value[open_.back().key] = std::move(value);
    }
    return true;
  }

  std::vector<Open> open_;
  Json whole_;
};

}  // namespace

Result<Json> Json::parse(std::string_view text) {
  Reader reader;
  if (!nlohmann::json::sax_parse(text, &reader)) {
    return Error(Code::data_loss, "the answer is not JSON");
  }
  return reader.take();
}

Json::Json(std::initializer_list<Member> members) : value_(Object()) {
  for (const Member& member : members) (*this)[member.key] = std::move(member.value);
}

Json& Json::operator[](std::string_view key) {
  auto* const members = std::get_if<Object>(&value_);
  check(members != nullptr, "only an object has members");
  const auto found = std::ranges::find(*members, key, &Object::value_type::first);
  if (found != members->end()) return found->second;
  return members->emplace_back(key, Json()).second;
}

void Json::push_back(Json element) {
  auto* const elements = std::get_if<Array>(&value_);
  check(elements != nullptr, "only an array has elements");
  elements->push_back(std::move(element));
}

const Json& Json::at(std::string_view key) const {
  static const Json null;
  const auto* const members = std::get_if<Object>(&value_);
  if (members == nullptr) return null;
  const auto found = std::ranges::find(*members, key, &Object::value_type::first);
  return found == members->end() ? null : found->second;
}

bool Json::is_true() const {
  const auto* const truth = std::get_if<bool>(&value_);
  return truth != nullptr && *truth;
}

double Json::number() const {
  return std::visit(
      [](const auto& value) -> double {
        using Held = std::remove_cvref_t<decltype(value)>;
        if constexpr (!std::is_arithmetic_v<Held> || std::is_same_v<Held, bool>) {
          return 0;
        } else {
          return static_cast<double>(value);
        }
      },
      value_);
}

std::string_view Json::text() const {
  const auto* const text = std::get_if<std::string>(&value_);
  return text == nullptr ? std::string_view() : *text;
}

std::span<const Json> Json::elements() const {
  const auto* const elements = std::get_if<Array>(&value_);
  return elements == nullptr ? std::span<const Json>() : *elements;
}

std::string Json::to_text() const {
  std::string text;
  append_to(text, 0);
  return text;
}

void Json::append_to(std::string& text, std::size_t indent) const {
  std::visit(
      [&](const auto& value) {
        using Held = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<Held, Array>) {
          append_lines(text, "[]", indent, value, [&](const Json& element) {
            element.append_to(text, indent + indent_width);
          });
        } else if constexpr (std::is_same_v<Held, Object>) {
          append_lines(text, "{}", indent, value, [&](const auto& member) {
            text.append(scalar_text(member.first, false)).append(": ");
            member.second.append_to(text, indent + indent_width);
          });
        } else {
          text.append(scalar_text(value, false));
        }
      },
      value_);
}

std::string quoted_ascii(std::string_view text) { return scalar_text(text, true); }

}  // namespace corolane::framework::detail
