// SPDX-License-Identifier: MIT
// Tasks on all shards of a node: each "spectator" waits for "a move" until the crowd is destroyed.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/node/node.h"

namespace corolane::test {

class Crowd {
 public:
  // `counts` is the number of tasks on each shard, by its index; a shard without enough stacks gets
  // as many as it can. Suspends until all of them wait.
  Crowd(framework::Node& node, std::vector<std::size_t> counts)
      : node_(node), counts_(std::move(counts)), ends_(counts_.size()) {
    waiting_ = coroutine::spawn("crowd", [this] {
      return node_.on_each_shard([this](framework::Shard& shard) { return wait_on(shard); });
    });
    while (ready_count_ < counts_.size()) EXPECT_TRUE(coroutine::yield());
  }
  ~Crowd() {
    EXPECT_TRUE(node_.on_each_shard([this](framework::Shard& shard) -> Result<void> {
      ends_[shard.index()]->set();
      return {};
    }));
    EXPECT_TRUE(waiting_.join(Deadline::never()));
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  Result<void> wait_on(framework::Shard& shard) {
    coroutine::Event end("a move");
    ends_[shard.index()] = &end;
    coroutine::TaskGroup tasks;
    const auto wait = [&end] { return end.wait(Deadline::never()); };
    while (tasks.size() < counts_[shard.index()] && tasks.spawn("spectator", wait)) {
    }
    if (auto begun = coroutine::yield(); !begun) return begun;
    ++ready_count_;
    return tasks.join(Deadline::never());
  }

  framework::Node& node_;
  const std::vector<std::size_t> counts_;
  std::vector<coroutine::Event*> ends_;  // Each belongs to its shard.
  std::atomic<std::size_t> ready_count_ = 0;
  coroutine::Task<void> waiting_;
};

}  // namespace corolane::test
