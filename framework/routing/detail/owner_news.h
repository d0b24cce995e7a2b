// SPDX-License-Identifier: MIT
// Calls that wait until the object they name has another owner.
//
// During a failover thousands of calls wait, and the owners of other partitions change all the
// time: calls that looked again at each change would look in vain, thousands of times each.
//
//   const OwnerMark tried = owner();
//   ...
//   auto waited = news.wait({type, partition}, {.owner = owner, .doubt = doubt}, tried, 2s);
//   if (!waited) return waited.error();
//
// Not thread-safe: every router has one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "framework/wire/partition.h"

namespace corolane::framework::detail {

// Where the objects of a partition live, as far as known; zeros when nowhere.
struct OwnerMark {
  std::uint64_t node_epoch = 0;
  std::uint64_t partition_epoch = 0;

  friend bool operator==(const OwnerMark&, const OwnerMark&) = default;
};

class OwnerNews {
 public:
  using Place = std::pair<std::string_view, Partition>;
  // What all calls of one place share; it outlives them.
  struct Look {
    std::function<OwnerMark()> owner;
    // Makes the node read the directory.
    std::function<void()> doubt;
  };
  // Calls of one place doubt it this often, however many there are.
  static constexpr Duration doubt_interval = std::chrono::milliseconds(250);

  OwnerNews() = default;
  OwnerNews(const OwnerNews&) = delete;
  OwnerNews& operator=(const OwnerNews&) = delete;

  // Suspends until the owner of the place is another one than `tried`, for `at_most` that long.
  // Fails with cancelled only.
  Result<void> wait(const Place& place, const Look& look, const OwnerMark& tried, Duration at_most);

  // Owners may have changed: wakes the calls of those places for which that is so.
  void look_again();

  std::size_t place_count() const { return waiting_.size(); }

 private:
  struct Waiting {
    Look look;
    OwnerMark known;
    std::size_t count = 0;
    TimePoint doubt_at{};
    coroutine::Event changed{"another owner of the object"};
  };

  static void look_at(Waiting& waiting);

  std::map<Place, Waiting> waiting_;
};

}  // namespace corolane::framework::detail
