// SPDX-License-Identifier: MIT
// Calls a function for each element of a range, several at a time, each call in a task.
//
//   auto scores = for_each(players, {.concurrency = 8},
//                          [&](const Player& player) { return load_score(player, deadline); },
//                          deadline);
//   if (!scores) return scores.error();
//   return sum(*scores);  // Your own function of a vector.
//
// Nothing is left running when it returns. The first error cancels the calls that still run and is
// what it returns. A caller that is cancelled or late cancels them too and waits for their end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/detail/may_begin.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine {

struct ForEachOptions {
  std::size_t concurrency = 0;         // How many calls run at a time, at most; at least 1.
  std::string_view name = "for each";  // Names the tasks.
  TaskOptions task = {};
};

namespace detail {

// The values of the calls, in the order of the elements; without a value, nothing.
template <typename T>
class ValuesInOrder {
 public:
  explicit ValuesInOrder(std::size_t count) : values_(count) {}

  Result<void> keep(std::size_t place, Result<T> value) {
    if (!value) return std::move(value.error());
    values_[place].emplace(*std::move(value));
    return {};
  }
  Result<std::vector<T>> take() {
    std::vector<T> values;
    values.reserve(values_.size());
    for (std::optional<T>& value : values_) values.push_back(*std::move(value));
    return values;
  }

 private:
  std::vector<std::optional<T>> values_;
};

template <>
class ValuesInOrder<void> {
 public:
  explicit ValuesInOrder(std::size_t /*count*/) {}

  static Result<void> keep(std::size_t /*place*/, Result<void> done) { return done; }
  static Result<void> take() { return {}; }
};

}  // namespace detail

// `f` takes an element and returns T, a Result<T> or nothing; the result is a Result<vector<T>> in
// the order of the elements, or a Result<void>. Suspends. At most `concurrency` tasks share the
// elements and take them in order, so that a long range costs no more tasks than a short one.
// `range` and `f` are used by all of them and stay as they are until the end.
//
// Fails with the first error of a call, with internal when an exception escaped from it, with
// deadline_exceeded or cancelled; with resource_exhausted, before any call, when there is no stack
// for a single task. With stacks for some it goes on with these.
template <std::ranges::forward_range R, typename F>
auto for_each(R&& range, const ForEachOptions& options, F f, Deadline deadline,
              const std::source_location& site = std::source_location::current()) {
  using Returned = std::invoke_result_t<F&, std::ranges::range_reference_t<R>>;
  using T = typename detail::JoinedType<Returned>::Value;
  check(options.concurrency > 0, "at least one call runs at a time");

  const auto count = static_cast<std::size_t>(std::ranges::distance(range));
  detail::ValuesInOrder<T> values(count);
  using Values = decltype(values.take());
  if (count == 0) return values.take();
  if (auto may = detail::may_begin(deadline, "for each"); !may) {
    return Values(std::move(may.error()));
  }
  auto next = std::ranges::begin(range);
  std::size_t next_place = 0;
  const auto take_elements = [&]() -> Result<void> {
    while (next_place < count && !is_cancelled()) {
      const std::size_t place = next_place++;
      const auto element = next++;
      Result<void> kept;
      if constexpr (std::is_void_v<Returned>) {
        f(*element);
      } else {
        kept = values.keep(place, f(*element));
      }
      if (!kept) return kept;
    }
    return {};
  };

  TaskGroup tasks({.cancel_on_error = true});
  for (std::size_t i = 0; i < std::min(options.concurrency, count); ++i) {
    auto spawned = tasks.spawn(options.name, [&] { return take_elements(); }, options.task, site);
    if (spawned) continue;
    if (i == 0) return Values(std::move(spawned.error()));
    break;
  }
  if (auto joined = tasks.join_or_cancel(deadline); !joined) {
    return Values(std::move(joined.error()));
  }
  return values.take();
}

}  // namespace corolane::coroutine
