// The arguments of wait_any() and wait_all(): things to wait for without taking them away from
// others.
#pragma once

#include <concepts>
#include <utility>

#include "coroutine/operation.h"
#include "coroutine/sync/future.h"
#include "coroutine/task.h"

namespace corolane::coroutine::detail {

// A const try_complete() takes nothing from what it waits for.
template <typename O>
concept WatchingOperation = Operation<O> && requires(const O& operation) {
  { operation.try_complete() } -> std::same_as<bool>;
};

template <WatchingOperation O>
O watching(O operation) {
  return operation;
}
template <typename T>
auto watching(Task<T>& task) {
  return task.joining();
}
template <typename T>
auto watching(Future<T>& future) {
  return future.getting();
}

template <typename W>
concept Watchable = requires(W&& watched) {
  { watching(std::forward<W>(watched)) } -> WatchingOperation;
};

}  // namespace corolane::coroutine::detail
