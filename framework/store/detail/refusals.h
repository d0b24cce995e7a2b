// SPDX-License-Identifier: MIT
// Errors of refused calls, with the same texts for all stores.
#pragma once

#include <chrono>
#include <cstdint>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/store/store.h"

namespace corolane::framework::detail {

// The epoch and version of a row; both are 0 when there is none.
struct RowMark {
  std::uint64_t epoch = 0;
  std::uint64_t version = 0;

  friend bool operator==(const RowMark&, const RowMark&) = default;
};

// The retry delay after a full queue.
inline constexpr std::chrono::milliseconds busy_delay{100};

// Called in a task before a call begins. Fails with cancelled or deadline_exceeded.
Result<void> check_may_begin(Deadline deadline);

// The row's epoch is later than the caller's.
Error sealed_by_later_owner(const ObjectKey& key, std::uint64_t found, std::uint64_t epoch);

// The row has another epoch or version than the caller expects.
Error not_to_be_replaced(const ObjectKey& key, const RowMark& found, const RowMark& expected);

}  // namespace corolane::framework::detail
