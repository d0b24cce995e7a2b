// All keys that there are as Markdown, for whoever writes a configuration: a table for each
// section, with types, defaults, limits, whether a reload changes it, and what it is for.
#pragma once

#include <string>

#include "config/section.h"

namespace corolane::config {

namespace detail {

std::string reference_of(Value& root);

}  // namespace detail

// Of a T as it is by default.
template <detail::Described T>
std::string reference() {
  T defaults{};
  detail::TypedValue<T, Limits<>> root(defaults, {});
  return detail::reference_of(root);
}

}  // namespace corolane::config
