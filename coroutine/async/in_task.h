// SPDX-License-Identifier: MIT
// Runs what needs a stack for a stackless coroutine: calls of other services, streams, and all else
// that is written for tasks.
//
//   Async<void> trade(MarketClient& market, Order order) {
//     auto sold = co_await in_task("sell", [&] { return market.sell(order, {}); });
//     if (!sold) co_return sold.error();
//     co_return {};
//   }
//
// The stack is that of a task, and lasts for the call only: of a million coroutines, those that are
// inside a call have one, and the pool passes it on. A wait that lasts long is better an operation
// (async.h), which needs none.
#pragma once

#include <functional>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "coroutine/async/async.h"
#include "coroutine/task.h"

namespace corolane::coroutine {

// Awaited: runs `body` in a task of this scheduler and yields its result as Task::join() does, once
// it has ended, never before: so `body` may refer to what the coroutine holds. Cancelling the
// coroutine cancels the task. Fails with resource_exhausted when there is no stack. `name` is valid
// until it is awaited.
template <typename F>
auto in_task(std::string_view name, F body, TaskOptions options = {},
             std::source_location site = std::source_location::current())
    -> Async<typename detail::JoinedType<std::invoke_result_t<F&>>::Value> {
  auto task = spawn(name, std::move(body), options, site);
  auto result = co_await until(task.joining(), Deadline::never());
  if (detail::Strand::running().wake() != Wake::cancelled) co_return result;
  task.cancel();
  co_return co_await detail::EndWait(task.joining());
}

}  // namespace corolane::coroutine
