// SPDX-License-Identifier: MIT
// Passes errors on to the caller.
//
//   COROLANE_TRY(check_is_open());
//   COROLANE_TRY(const Item item, find_item("sword"));
//   return item.price;
//
// COROLANE_TRY(expression) returns the error from the enclosing function when the result of
// `expression` is one; that function returns a Result, whatever its type. With two arguments the
// first declares a variable, or names one, for the value.
//
// A comma outside of parentheses separates arguments: put `(Map<int, int>())` into parentheses.
#pragma once

#include <utility>

#include "coroutine/base/result.h"

#define COROLANE_TRY(...)                                                                       \
  COROLANE_TRY_CHOOSE(__VA_ARGS__, COROLANE_TRY_TAKES_ONE_OR_TWO_ARGUMENTS, COROLANE_TRY_VALUE, \
                      COROLANE_TRY_VOID, unused)(__VA_ARGS__)

#define COROLANE_TRY_CHOOSE(a, b, c, chosen, ...) chosen

#define COROLANE_TRY_VOID(expression)                                     \
  do {                                                                    \
    if (auto corolane_tried = (expression); !corolane_tried) [[unlikely]] \
      return std::move(corolane_tried).error();                           \
  } while (false)

#define COROLANE_TRY_VALUE(variable, expression) \
  COROLANE_TRY_NAMED(COROLANE_TRY_JOIN(corolane_tried_, __LINE__), variable, expression)

#define COROLANE_TRY_NAMED(result, variable, expression) \
  auto result = (expression);                            \
  if (!result) [[unlikely]]                              \
    return std::move(result).error();                    \
  variable = *std::move(result)

#define COROLANE_TRY_JOIN(a, b) COROLANE_TRY_JOIN_EXPANDED(a, b)
#define COROLANE_TRY_JOIN_EXPANDED(a, b) a##b
