// SPDX-License-Identifier: MIT
// A JSON value that pages build and write, and read from other nodes. The JSON library is behind
// json.cc, so that a page does not compile it.
//
//   Json rows = Json::array();
//   rows.push_back({{"name", task.name}, {"seconds", in_seconds(task.age)}});
//   return json_response({{"count", count}, {"tasks", std::move(rows)}});
//
// The members of an object keep the order in which they were added.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::framework::detail {

template <typename T>
concept JsonText = std::convertible_to<const T&, std::string_view>;

template <typename T>
concept JsonList = !JsonText<T> && requires(const T& list) {
  list.begin();
  list.end();
};

class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;
  using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string,
                             Array, Object>;

  Json() = default;  // null.
  Json(bool truth) : value_(truth) {}
  Json(double number) : value_(number) {}
  template <std::signed_integral T>
  Json(T number) : value_(std::int64_t{number}) {}
  template <std::unsigned_integral T>
  Json(T number) : value_(std::uint64_t{number}) {}
  template <JsonText T>
  Json(const T& text) : value_(std::string(std::string_view(text))) {}
  template <JsonList T>
  Json(const T& list) : value_(Array(list.begin(), list.end())) {}
  // Makes an object. The members are moved from.
  Json(std::initializer_list<Member> members);

  // Fails with data_loss for a text that is not JSON.
  static Result<Json> parse(std::string_view text);
  static Json object() { return Json(Value(Object())); }
  static Json array() { return Json(Value(Array())); }
  static Json array(std::initializer_list<Json> elements) { return Json(Value(Array(elements))); }

  // The member of an object; a new one is null.
  Json& operator[](std::string_view key);
  // Appends to an array.
  void push_back(Json element);

  // The member of an object; null when it has none, or is no object.
  const Json& at(std::string_view key) const;
  const Value& value() const { return value_; }
  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool is_true() const;
  // Zero, an empty text and no elements for a value of another kind.
  double number() const;
  std::string_view text() const;
  std::span<const Json> elements() const;
  std::size_t size() const { return elements().size(); }

  // Writes a line for each element and member, and U+FFFD for invalid UTF-8.
  std::string to_text() const;

 private:
  explicit Json(Value value) : value_(std::move(value)) {}
  void append_to(std::string& text, std::size_t indent) const;

  Value value_ = nullptr;
};

struct Json::Member {
  std::string_view key;
  mutable Json value;
};

// The text in quotes and in ASCII, with U+FFFD for invalid UTF-8.
std::string quoted_ascii(std::string_view text);

}  // namespace corolane::framework::detail
