// SPDX-License-Identifier: MIT
// The access of one shard to its store. Callers of objects only learn that the store is full or
// unavailable; its address and details go to the log, at a limited rate. While the store is full it
// is probed each second, so a node whose objects are only read notices when there is room again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/histogram.h"
#include "coroutine/task_group.h"
#include "coroutine/task_info.h"
#include "framework/store/store.h"
#include "framework/telemetry/log.h"

namespace corolane::rpc {
class Tracer;
}

namespace corolane::framework::detail {

// The state of the store, shared by the shards of a node. Thread-safe.
class StoreHealth {
 public:
  bool is_full() const { return is_full_.load(std::memory_order_relaxed); }
  void set_full(bool is_full) { is_full_.store(is_full, std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_full_ = false;
};

class StoreGate final : public Store {
 public:
  struct Statistics {
    Histogram read_us;  // Of objects, with the proof of ownership.
    Histogram write_us;
    std::uint64_t error_count = 0;  // Operations that failed, but for decisions of the store.
  };

  // `health`, `log` and `tracer` outlive it. Without a tracer its reads and writes have no spans.
  StoreGate(std::shared_ptr<Store> store, StoreHealth& health, Log& log,
            rpc::Tracer* tracer = nullptr)
      : store_(std::move(store)), health_(health), log_(log), tracer_(tracer) {}
  ~StoreGate() override { trying_.cancel_and_join(); }

  Result<std::size_t> partition_count(std::size_t wanted, Deadline deadline) override {
    return told(store_->partition_count(wanted, deadline));
  }
  // While the store is full this returns owed_epoch(), if the store supports it.
  Result<std::uint64_t> next_epoch(Deadline deadline) override;
  Result<std::uint64_t> owed_epoch(Deadline deadline) override;
  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object, Deadline deadline) override;
  Result<std::vector<DueObject>> due(Partition partition, WallTime until, std::size_t count_max,
                                     Deadline deadline) override;
  Result<std::size_t> forget(Partition partition, WallTime now, std::size_t count_max,
                             Deadline deadline) override;
  Result<DirectoryMark> note_directory(const DirectoryMark& mark, const NoteOptions& options,
                                       Deadline deadline) override;
  // A question to the store about one object, while its task waits for the answer.
  class Question {
   public:
    // `what` is what the store is to do, "write"; `key` outlives it. `first` is the head of a list.
    Question(Question*& first, const char* what, const ObjectKey& key, Deadline deadline);
    ~Question();
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;

    std::string_view what() const { return what_; }
    const ObjectKey& key() const { return key_; }
    coroutine::TaskId task() const { return task_; }
    // To the precision of a loop turn.
    TimePoint asked_at() const { return asked_at_; }
    Deadline deadline() const { return deadline_; }
    const Question* next() const { return next_; }

   private:
    const char* const what_;
    const ObjectKey& key_;
    const coroutine::TaskId task_;
    const TimePoint asked_at_;
    const Deadline deadline_;
    Question* next_;
    Question** link_;
  };
  // The latest first; null: none. For pages.
  const Question* questions() const { return questions_; }
  bool is_full() const { return health_.is_full(); }

  bool is_shared() const override { return store_->is_shared(); }
  std::string name() const override { return store_->name(); }

  const Statistics& statistics() const { return statistics_; }
  // The last failure, as the store has told it, for operators: callers hear less. Empty: none yet.
  const std::string& last_trouble() const { return last_trouble_; }

 private:
  template <typename T>
  Result<T> told(Result<T> result);
  template <typename F>
  // Runs a read or write of the store, with a span and its time.
  auto observed(const char* name, const ObjectKey& key, Histogram& took_us, F&& work)
      -> decltype(work());
  void note(const Error& error);
  void try_again();

  const std::shared_ptr<Store> store_;
  StoreHealth& health_;
  Log& log_;
  rpc::Tracer* const tracer_;
  Statistics statistics_;
  std::string last_trouble_;
  TimePoint logged_at_{};
  std::uint64_t unlogged_count_ = 0;
  bool tries_ = false;
  Question* questions_ = nullptr;
  coroutine::TaskGroup trying_;
};

}  // namespace corolane::framework::detail
