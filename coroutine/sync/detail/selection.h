// SPDX-License-Identifier: MIT
// Several operations, one of which will complete: the common part of select() and of until() for
// stackless coroutines, whose waits differ.
//
// Try them all. If none completes, queue all their places and begin a Wait over places(); once
// notified, finish the operation that the Wait names.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/operation.h"

namespace corolane::coroutine::detail {

// A pack cannot stand before a parameter of a known type, so the deadline that comes last is part
// of it.
template <typename... Arguments>
constexpr bool are_operations_and_deadline() {
  constexpr std::size_t count = sizeof...(Arguments);
  if constexpr (count < 2) {
    return false;
  } else {
    return []<std::size_t... indices>(std::index_sequence<indices...>) {
      using All = std::tuple<std::remove_cvref_t<Arguments>...>;
      return std::same_as<std::tuple_element_t<count - 1, All>, Deadline> &&
             (Operation<std::tuple_element_t<indices, All>> && ...);
    }(std::make_index_sequence<count - 1>());
  }
}
template <typename... Arguments>
concept OperationsAndDeadline = are_operations_and_deadline<Arguments...>();

// Calls `function` with the last argument first.
template <typename F, typename... Arguments>
auto with_last_first(F function, Arguments&... arguments) {
  const auto all = std::tie(arguments...);
  return [&]<std::size_t... indices>(std::index_sequence<indices...>) {
    return function(std::get<sizeof...(indices)>(all), std::get<indices>(all)...);
  }(std::make_index_sequence<sizeof...(Arguments) - 1>());
}

// Refers to the operations. Must not move between queue() and the end of the wait.
template <Operation... Os>
class Selection {
 public:
  using Value = std::variant<Result<typename Os::Value>...>;
  static constexpr std::size_t count = sizeof...(Os);

  explicit Selection(Os&... operations) : operations_(operations...) {}

  // The index of the first, in their order, that completes without waiting; `count` when none does.
  // Later ones are not tried.
  std::size_t try_complete() {
    return std::apply(
        [](Os&... operations) {
          std::size_t index = 0;
          static_cast<void>(((operations.try_complete() || (++index, false)) || ...));
          return index;
        },
        operations_);
  }

  // Queues a place for each of them, in their order.
  void queue() {
    std::apply(
        [this](Os&... operations) {
          std::size_t index = 0;
          (queue_at(places_[index++], operations), ...);
        },
        operations_);
  }
  std::span<Place> places() { return places_; }

  // The outcome of the completed one. Without an optional to fill in: gcc 12 warns of its value in
  // the programs that select.
  template <std::size_t index = 0>
  Value finish(std::size_t completed) {
    if constexpr (index + 1 < count) {
      if (completed != index) return finish<index + 1>(completed);
    }
    check(completed == index, "one of the operations has completed");
    return Value(std::in_place_index<index>, std::get<index>(operations_).finish());
  }

 private:
  template <Operation O>
  static void queue_at(Place& place, O& operation) {
    place.slot = operation.slot();
    operation.queue().add(place);
  }

  std::tuple<Os&...> operations_;
  std::array<Place, count> places_;
};

}  // namespace corolane::coroutine::detail
