// SPDX-License-Identifier: MIT
// A field of any type, as the loader and the printer see it: reads a node and prints YAML. Lists,
// optionals and structs are decomposed here, down to scalars.
#pragma once

#include <any>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/detail/printing.h"
#include "config/detail/reading.h"
#include "config/detail/scalar.h"
#include "config/limits.h"
#include "coroutine/base/check.h"

namespace corolane::config {

class Section;

namespace detail {

template <typename T>
concept Described = requires(Section& section, T& value) { describe(section, value); };

template <typename T>
inline constexpr bool is_list = false;
template <typename T>
inline constexpr bool is_list<std::vector<T>> = true;
template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <typename T, typename Limit>
void read_list(SourceNode* node, const std::string& path, std::vector<T>& values,
               const Limit& limits, Reading& reading);

template <Scalar T, typename Limit>
void read_scalar(const SourceNode& node, const std::string& path, T& value, const Limit& limits,
                 Reading& reading) {
  const std::string* const text = reading.text(node, path, ScalarTraits<T>::expected());
  if (text == nullptr) return;
  auto parsed = ScalarTraits<T>::parse(*text);
  if (!parsed) {
    reading.report(node, path, parsed.error().message());
  } else if (auto allowed = check_limits(*text, *parsed, limits); !allowed) {
    reading.report(node, path, allowed.error().message());
  } else {
    value = *std::move(parsed);
  }
}

// Reads `node` into `value` and reports problems to `reading`. A null node keeps the default, which
// must be a value that could have been read.
template <typename T, typename Limit>
void read(SourceNode* node, const std::string& path, T& value, const Limit& limits,
          Reading& reading) {
  if constexpr (is_optional<T>) {
    if (node != nullptr && Reading::is_null(*node)) {
      value.reset();
    } else if (node != nullptr || value.has_value()) {
      detail::read(node, path, value ? *value : value.emplace(), limits, reading);
    }
  } else if constexpr (is_list<T>) {
    detail::read_list(node, path, value, limits, reading);
  } else if constexpr (Described<T>) {
    static_assert(std::is_same_v<Limit, Limits<>>, "limits are for scalars");
    reading.section(node, path, [&](Section& section) { describe(section, value); });
  } else {
    static_assert(Scalar<T>, "a field needs describe(), choices() or a type named in section.h");
    if (node != nullptr) {
      detail::read_scalar(*node, path, value, limits, reading);
    } else {
      check(check_limits("", value, limits).has_value(),
            "the default of " + path + " is within its limits");
    }
  }
}

template <typename T, typename Limit>
void read_list(SourceNode* node, const std::string& path, std::vector<T>& values,
               const Limit& limits, Reading& reading) {
  if (node == nullptr) {
    for (T value : values) detail::read(node, path, value, limits, reading);
    return;
  }
  if (!reading.open_list(*node, path)) return;
  values.clear();
  for (std::size_t i = 0; i < node->children.size(); ++i) {
    T value{};
    detail::read(&node->children[i], element_path(path, i), value, limits, reading);
    values.push_back(std::move(value));
  }
}

// Prints `value` as YAML: on one line, or as a block that starts with a line break.
template <typename T>
std::string print(T& value, const std::string& path, const Printing& printing) {
  if constexpr (is_optional<T>) {
    return value ? detail::print(*value, path, printing) : "null";
  } else if constexpr (is_list<T>) {
    std::vector<std::string> elements;
    for (typename T::value_type element : value) {
      const std::size_t i = elements.size();
      elements.push_back(detail::print(element, element_path(path, i), printing.element(i)));
    }
    return printing.list(elements);
  } else if constexpr (Described<T>) {
    return printing.section(path, [&](Section& section) { describe(section, value); });
  } else {
    return ScalarTraits<T>::format(value);
  }
}

// The allowed values of a field, in words; empty when its type says it all.
template <typename T, typename Limit>
std::string allowed(const Limit& limits) {
  if constexpr (is_optional<T> || is_list<T>) {
    return detail::allowed<typename T::value_type>(limits);
  } else if constexpr (Choosable<T>) {
    return ScalarTraits<T>::expected();
  } else {
    return describe_limits(limits);
  }
}

// "duration", "list of text".
template <typename T>
std::string type_name() {
  if constexpr (is_optional<T>) {
    return detail::type_name<typename T::value_type>() + " or null";
  } else if constexpr (is_list<T>) {
    return "list of " + detail::type_name<typename T::value_type>();
  } else if constexpr (Described<T>) {
    return "section";
  } else {
    return std::string(ScalarTraits<T>::name);
  }
}

// Called for a struct at `path`.
using SectionVisitor =
    std::function<void(const std::string& path, const std::function<void(Section&)>& describe)>;

// Visits each struct that `value` is or has as an element.
template <typename T>
void visit_sections(T& value, const std::string& path, const SectionVisitor& visit) {
  if constexpr (is_optional<T>) {
    if (value) detail::visit_sections(*value, path, visit);
  } else if constexpr (is_list<T>) {
    if constexpr (!std::is_same_v<T, std::vector<bool>>) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        detail::visit_sections(value[i], element_path(path, i), visit);
      }
    }
  } else if constexpr (Described<T>) {
    visit(path, [&](Section& section) { describe(section, value); });
  }
}

// Visits the default struct that an element of a T would be: "peers[]".
template <typename T>
void visit_example(const std::string& path, const SectionVisitor& visit) {
  if constexpr (is_optional<T>) {
    detail::visit_example<typename T::value_type>(path, visit);
  } else if constexpr (is_list<T>) {
    detail::visit_example<typename T::value_type>(path + "[]", visit);
  } else if constexpr (Described<T>) {
    T example{};
    visit(path, [&](Section& section) { describe(section, example); });
  }
}

class Value {
 public:
  virtual void read(SourceNode* node, const std::string& path, Reading& reading) = 0;
  virtual std::string print(const std::string& path, const Printing& printing) = 0;
  // "at least 1", "one of debug, info, error"; may be empty.
  virtual std::string allowed() const = 0;
  virtual std::string type() const = 0;
  // A struct is a section of keys; any other type is the value of one key.
  virtual bool is_section() const = 0;
  virtual void visit_sections(const std::string& path, const SectionVisitor& visit) = 0;
  virtual void visit_example(const std::string& path, const SectionVisitor& visit) const = 0;
  // `assign` takes a result of `copy` from a value of the same type.
  virtual std::any copy() const = 0;
  virtual void assign(const std::any& copy) = 0;

 protected:
  ~Value() = default;
};

template <typename T, typename Limit>
class TypedValue final : public Value {
 public:
  TypedValue(T& value, const Limit& limits) : value_(value), limits_(limits) {}

  void read(SourceNode* node, const std::string& path, Reading& reading) override {
    detail::read(node, path, value_, limits_, reading);
  }
  std::string print(const std::string& path, const Printing& printing) override {
    return detail::print(value_, path, printing);
  }
  std::string allowed() const override { return detail::allowed<T>(limits_); }
  std::string type() const override { return detail::type_name<T>(); }
  bool is_section() const override { return Described<T>; }
  void visit_sections(const std::string& path, const SectionVisitor& visit) override {
    detail::visit_sections(value_, path, visit);
  }
  void visit_example(const std::string& path, const SectionVisitor& visit) const override {
    detail::visit_example<T>(path, visit);
  }
  std::any copy() const override { return value_; }
  void assign(const std::any& copy) override { value_ = *std::any_cast<T>(&copy); }

 private:
  T& value_;
  const Limit limits_;
};

}  // namespace detail
}  // namespace corolane::config
