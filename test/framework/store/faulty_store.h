// How one node sees a store that it shares with others: not at all, or in part.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "framework/store/store.h"

namespace corolane::test {

class FaultyStore final : public framework::Store {
 public:
  // What becomes of a write: what is returned is its error.
  using Judge = std::function<Result<void>(const framework::ObjectKey& key)>;

  explicit FaultyStore(framework::Store& table) : table_(table) {}

  // From now on it is away, until it is mended. A node that is destroyed then has crashed: nothing
  // that it does at its end is kept.
  void cut() { is_away_ = true; }
  void mend() { is_away_ = false; }
  // Asked of each write before it is made, and after it: then the answer is lost.
  void set_before_write(Judge judge) { before_write_ = std::move(judge); }
  void set_after_write(Judge judge) { after_write_ = std::move(judge); }

  Result<std::uint64_t> next_epoch(Deadline deadline) override {
    if (is_away_) return away();
    return table_.next_epoch(deadline);
  }
  Result<framework::StoredObject> seal(const framework::ObjectKey& key, std::uint64_t epoch,
                                       Deadline deadline) override {
    if (is_away_) return away();
    return table_.seal(key, epoch, deadline);
  }
  Result<void> release(const framework::ObjectKey& key, std::uint64_t epoch,
                       Deadline deadline) override {
    if (is_away_) return away();
    return table_.release(key, epoch, deadline);
  }
  Result<void> write(const framework::ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const framework::ObjectWrite& object, Deadline deadline) override {
    if (is_away_) return away();
    if (before_write_ != nullptr) {
      if (auto allowed = before_write_(key); !allowed) return allowed;
    }
    auto written = table_.write(key, epoch, version, object, deadline);
    if (!written || after_write_ == nullptr) return written;
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
  bool is_shared() const override { return true; }
  std::string name() const override { return "a store with faults"; }

 private:
  static Error away() { return Error(Code::unavailable, "the store is away"); }

  framework::Store& table_;
  bool is_away_ = false;
  Judge before_write_;
  Judge after_write_;
};

}  // namespace corolane::test
