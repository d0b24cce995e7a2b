// SPDX-License-Identifier: MIT
// Asks all shards of a node, each on its own thread, without waiting for one that hangs.
//
//   auto rooms = from_each_shard(node, [](Shard& shard) { return rooms_of(shard).size(); });
//   if (!rooms) return rooms.error();
//   log.info("rooms", {{"shards", rooms->parts.size()}, {"hanging", rooms->silent.size()}});
//
// A shard hangs when its loop has not turned for half a second. Code that only looks uses this: the
// shard is left out of the answer, and named in it. What must happen on all shards waits for it
// (Node::on_each_shard), as the shutdown does, or fails before it begins, as a reload does.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "coroutine/base/result.h"
#include "coroutine/task.h"
#include "framework/cluster/detail/membership.h"
#include "framework/node/node.h"

namespace corolane::framework {

template <typename T>
struct FromShards {
  std::vector<T> parts;              // What the shards have answered, by number.
  std::vector<std::size_t> numbers;  // Those of these shards.
  // The others, by number. Such a shard may still run what it was asked, at any later time.
  std::vector<detail::ShardSilence> silent;
};

// Returns the results of `look` on each shard whose loop turns. `look` may outlive the call, on a
// shard that hangs: so it owns what it uses, but for what outlives the node's threads. Fails with
// resource_exhausted when a shard has no stack for it, with internal when it throws there, and with
// cancelled.
template <std::invocable<Shard&> F>
auto from_each_shard(Node& node, F look) -> Result<FromShards<std::invoke_result_t<F&, Shard&>>> {
  using Found = std::invoke_result_t<F&, Shard&>;
  struct Looking {
    F look;
    // A shard writes its own one; those of silent shards are not read.
    std::vector<std::optional<Found>> found;
  };
  const auto looking = std::make_shared<Looking>(std::move(look));
  looking->found.resize(node.shard_count());
  auto silent = node.ask_each_shard([looking](Shard& shard) -> Result<void> {
    looking->found[shard.index()] = looking->look(shard);
    return {};
  });
  if (!silent) return silent.error();
  FromShards<Found> answer{.parts = {}, .numbers = {}, .silent = *std::move(silent)};
  auto next_silent = answer.silent.begin();
  for (std::size_t shard = 0; shard < looking->found.size(); ++shard) {
    if (next_silent != answer.silent.end() && next_silent->shard == shard) {
      ++next_silent;
      continue;
    }
    answer.parts.push_back(*std::move(looking->found[shard]));
    answer.numbers.push_back(shard);
  }
  return answer;
}

// Combines the parts into the first one: `add` adds each further part to it. Other tasks run
// between two parts, however many shards there are. Suspends.
template <std::default_initializable T, std::invocable<T&, const T&> F>
T added_up(std::vector<T> parts, F add) {
  if (parts.empty()) return T();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    add(parts.front(), parts[i]);
    static_cast<void>(coroutine::yield());  // A cancelled caller continues at once.
  }
  return std::move(parts.front());
}

}  // namespace corolane::framework
