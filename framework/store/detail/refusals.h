// Why a call did nothing, in the same words whatever the store.
#pragma once

#include <chrono>
#include <cstdint>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/store/store.h"

namespace corolane::framework::detail {

// What a row says of its object; both are 0 when there is none.
struct RowMark {
  std::uint64_t epoch = 0;
  std::uint64_t version = 0;

  friend bool operator==(const RowMark&, const RowMark&) = default;
};

// When a caller may come back to a store whose queue is full.
inline constexpr std::chrono::milliseconds busy_delay{100};

// Before a call has begun. Fails with cancelled or deadline_exceeded. In a task.
Result<void> check_may_begin(Deadline deadline);

// The row's epoch is later than the caller's.
Error sealed_by_later_owner(const ObjectKey& key, std::uint64_t found, std::uint64_t epoch);

// The row is not what the caller wants to replace.
Error not_to_be_replaced(const ObjectKey& key, const RowMark& found, const RowMark& expected);

}  // namespace corolane::framework::detail
