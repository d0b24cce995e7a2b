// SPDX-License-Identifier: MIT
// One node's view of a store that it shares with other nodes: slow, unreachable, failing some
// writes, or losing its answers.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "framework/store/store.h"

namespace corolane::test {

class FaultyStore final : public framework::Store {
 public:
  // Decides the outcome of a write: an error that it returns becomes the error of the write.
  using Judge = std::function<Result<void>(const framework::ObjectKey& key)>;

  explicit FaultyStore(framework::Store& table) : table_(table) {}

  Duration delay{};  // Before each seal and write.
  // The operation is made, and its caller does not learn of it.
  bool loses_answers_of_seals = false;
  bool loses_answers_of_writes = false;
  // Attempts, whatever came of them.
  int seal_count = 0;
  int write_count = 0;

  // Makes the store unreachable. Destroying the node meanwhile simulates a crash: none of
  // its last writes is kept.
  void cut() { is_away_ = true; }
  void mend() { is_away_ = false; }
  // Called for each write before it is made, and after it: an error after it means a lost reply.
  void set_before_write(Judge judge) { before_write_ = std::move(judge); }
  void set_after_write(Judge judge) { after_write_ = std::move(judge); }

  Result<std::uint64_t> next_epoch(Deadline deadline) override {
    if (is_away_) return away();
    return table_.next_epoch(deadline);
  }
  Result<framework::StoredObject> seal(const framework::ObjectKey& key, std::uint64_t epoch,
                                       Deadline deadline) override {
    ++seal_count;
    if (auto reached = reach(); !reached) return reached.error();
    auto sealed = table_.seal(key, epoch, deadline);
    if (sealed && loses_answers_of_seals) return lost();
    return sealed;
  }
  Result<void> release(const framework::ObjectKey& key, std::uint64_t epoch,
                       Deadline deadline) override {
    if (is_away_) return away();
    return table_.release(key, epoch, deadline);
  }
  Result<void> write(const framework::ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const framework::ObjectWrite& object, Deadline deadline) override {
    ++write_count;
    if (auto reached = reach(); !reached) return reached;
    if (before_write_ != nullptr) {
      if (auto allowed = before_write_(key); !allowed) return allowed;
    }
    auto written = table_.write(key, epoch, version, object, deadline);
    if (!written) return written;
    if (loses_answers_of_writes) return lost();
    if (after_write_ == nullptr) return written;
    if (auto answered = after_write_(key); !answered) {
      return std::move(answered.error()).with_maybe_executed();
    }
    return written;
  }
  Result<std::vector<framework::DueObject>> due(framework::Partition partition,
                                                framework::WallTime until, std::size_t count_max,
                                                Deadline deadline) override {
    if (is_away_) return away();
    return table_.due(partition, until, count_max, deadline);
  }
  Result<std::size_t> forget(framework::Partition partition, framework::WallTime now,
                             std::size_t count_max, Deadline deadline) override {
    if (is_away_) return away();
    return table_.forget(partition, now, count_max, deadline);
  }
  Result<framework::DirectoryMark> note_directory(const framework::DirectoryMark& mark,
                                                  const framework::NoteOptions& options,
                                                  Deadline deadline) override {
    if (is_away_) return away();
    return table_.note_directory(mark, options, deadline);
  }
  bool is_shared() const override { return true; }
  std::string name() const override { return "a store with faults"; }

 private:
  static Error away() { return Error(Code::unavailable, "the store is away"); }
  static Error lost() {
    return Error(Code::deadline_exceeded, "the answer is lost").with_maybe_executed();
  }
  Result<void> reach() const {
    if (delay > Duration::zero()) {
      if (auto slept = coroutine::sleep_for(delay); !slept) return slept;
    }
    if (is_away_) return away();
    return {};
  }

  framework::Store& table_;
  bool is_away_ = false;
  Judge before_write_;
  Judge after_write_;
};

}  // namespace corolane::test
