// SPDX-License-Identifier: MIT
// Keeps the history of a node: once a second it asks each shard for its counters, and writes down
// what has happened since.
//
//   NodeHistory history(node, shards);
//   if (auto started = history.start(); !started) return started.error();
//
// A shard is asked by a message, which needs no stack there, and one that does not answer within
// 0.4 seconds leaves a gap in the sums over the shards: it is neither awaited nor asked again. What
// the node knows without the shards has no gaps. A question costs a shard some ten microseconds.
// Belongs to the thread of the node.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/task_group.h"
#include "framework/telemetry/history.h"

namespace corolane::framework {
class Node;
}

namespace corolane::framework::detail {

class ShardSet;

class NodeHistory {
 public:
  // A loop that turns answers in less, also on a machine that has too much to do.
  static constexpr Duration answer_time_max = std::chrono::milliseconds(400);

  // Both outlive it. The node has started.
  NodeHistory(Node& node, ShardSet& shards);
  // Ends its task before anything of it.
  ~NodeHistory() { task_.cancel_and_join(); }
  NodeHistory(const NodeHistory&) = delete;
  NodeHistory& operator=(const NodeHistory&) = delete;

  // Writes the history in a task of its own. Fails without a stack.
  Result<void> start();

  const History& history() const { return history_; }
  // The current second of the history.
  std::int64_t second_now() const;

 private:
  // Shared with a shard, which may answer after the end of this object.
  struct Question;
  // A shard, and what it has told.
  struct Told {
    std::shared_ptr<Question> question;
    bool is_asked = false;  // And what it answers is not read yet.
    bool is_fresh = false;  // It has answered this second, and has before.
    std::size_t answer_count = 0;
    Duration delay{};  // The longest of this second, from a question to its answer.
  };

  void run();
  Result<void> find_shards();
  void ask();
  void hear(Told& told);
  void hear_all();
  void write();
  void write_sums();
  void write_quantiles();
  void write_node();
  void write_shards();
  void write_types();

  Node& node_;
  ShardSet& shards_;
  const TimePoint origin_;
  History history_;
  std::vector<Told> told_;  // By shard.
  std::vector<float> row_;  // The samples of this second.
  bool are_all_fresh_ = false;
  TimePoint written_at_{};
  Duration control_cpu_{};
  std::uint64_t stall_count_ = 0;
  coroutine::TaskGroup task_;
};

}  // namespace corolane::framework::detail
