// A copy of all that a shard knows of one object, for a page that shows it on another thread, and
// later.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/task_info.h"
#include "framework/node/shard.h"
#include "framework/objects/detail/object_history.h"
#include "framework/objects/detail/object_visitor.h"
#include "framework/time/wall_clock.h"

namespace corolane::framework::detail {

struct ObjectReport {
  // Longer lists would not be read.
  static constexpr std::size_t waiting_count_max = 100;
  static constexpr std::size_t running_count_max = 16;
  // Finding a task among very many takes time.
  static constexpr std::size_t task_count_max = 4;

  struct Visitor {
    std::string what;
    ObjectVisitor::Stage stage;
    coroutine::TaskAddress task;
    Duration in_stage;
    Duration age;
    std::optional<Duration> time_left;
    std::string peer;
    std::vector<std::string> callers;  // The outermost first.
    std::optional<coroutine::TaskInfo> info = {};
  };
  struct Active {
    Duration age;
    std::size_t memory_bytes;
    std::size_t state_bytes;
    std::uint64_t version;
    std::optional<Duration> unsaved;  // Since the oldest change that is not stored.
    bool hides_change;                // Withheld from callers until it is stored.
    std::size_t timer_count;
    std::size_t reminder_count;
    std::optional<WallTime> wake_at;
    std::size_t reader_count;
    std::size_t followed_count;
  };

  bool is_hosted = false;
  std::uint64_t epoch = 0;  // The epoch of this node's ownership; 0: none.
  bool is_on_the_move = false;
  bool has_cell = false;
  std::optional<Active> active;
  std::optional<Duration> idle;  // Since the last call left.
  std::vector<Visitor> running;  // Or waiting without a turn; the earliest comes first.
  std::vector<Visitor> waiting;
  std::size_t running_count = 0;
  std::size_t waiting_count = 0;
  std::vector<ObjectHistory::Call> calls;
  std::vector<ObjectHistory::Failure> errors;
  std::optional<ObjectHistory::Failure> failed_save;
  TimePoint time{};  // The time of the report.
};

// Runs on the shard that has the objects of that partition. Suspends.
ObjectReport report_of(const Shard& shard, std::string_view type, const std::string& id);

}  // namespace corolane::framework::detail
