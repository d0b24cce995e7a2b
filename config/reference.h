// SPDX-License-Identifier: MIT
// All keys as Markdown, for operators who write a configuration: a table for each section, with
// types, defaults, limits, whether a reload changes the key, and its purpose.
//
//   std::cout << reference<ChessConfig>();
#pragma once

#include <string>

#include "config/section.h"

namespace corolane::config {

namespace detail {

std::string reference_of(Value& root);

}  // namespace detail

// For a T with its default values.
template <detail::Described T>
std::string reference() {
  T defaults{};
  detail::TypedValue<T, Limits<>> root(defaults, {});
  return detail::reference_of(root);
}

}  // namespace corolane::config
