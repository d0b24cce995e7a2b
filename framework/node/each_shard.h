// SPDX-License-Identifier: MIT
// Asks all shards of a node, each on its own thread.
//
//   auto rooms = from_each_shard(node, [](Shard& shard) { return rooms_of(shard).size(); });
//   if (!rooms) return rooms.error();
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "coroutine/base/result.h"
#include "coroutine/task.h"
#include "framework/node/node.h"

namespace corolane::framework {

// Returns the results of `look` on each shard, by number, run by Node::on_each_shard(). The result
// type is default-constructible. Fails with resource_exhausted when a shard has no stack for it.
template <std::invocable<Shard&> F>
auto from_each_shard(Node& node, F look) -> Result<std::vector<std::invoke_result_t<F&, Shard&>>> {
  using Found = std::invoke_result_t<F&, Shard&>;
  static_assert(!std::is_same_v<Found, bool>, "threads would write bits of the same byte");
  std::vector<Found> found(node.shard_count());
  auto looked = node.on_each_shard([&](Shard& shard) -> Result<void> {
    found[shard.index()] = look(shard);
    return {};
  });
  if (!looked) return looked.error();
  return found;
}

// Combines the parts into the first one: `add` adds each further part to it. Other tasks run
// between two parts, however many shards there are. Suspends.
template <typename T, std::invocable<T&, const T&> F>
T added_up(std::vector<T> parts, F add) {
  for (std::size_t i = 1; i < parts.size(); ++i) {
    add(parts.front(), parts[i]);
    static_cast<void>(coroutine::yield());  // A cancelled caller continues at once.
  }
  return std::move(parts.front());
}

}  // namespace corolane::framework
