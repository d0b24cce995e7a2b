// SPDX-License-Identifier: MIT
// Selects the tasks that a page shows:
// ?state=suspended&name=Move&waiting_for=mutex&site=room.cc&shard=1&age=5s
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/task_info.h"
#include "net/http/http.h"

namespace corolane::framework::detail {

struct TaskFilter {
  std::optional<coroutine::TaskState> state = {};
  // Each text is a substring of the task's; empty matches any.
  std::string name = {};
  std::string waiting_for = {};
  std::string site = {};
  std::optional<std::size_t> shard = {};
  Duration age_min{};

  bool is_any() const;
  bool matches(const coroutine::TaskInfo& task) const;
};

// Fails with invalid_argument, which says what the query may be.
Result<TaskFilter> task_filter_of(const net::HttpRequest& request);

}  // namespace corolane::framework::detail
