// SPDX-License-Identifier: MIT
// The thread that works on the file of an SqliteStore, and the transport of calls to it and back.
//
// A commit waits for the disk, and costs the same for one call and for a hundred. So the thread
// takes all calls that arrived while it was busy, runs them in one transaction, and wakes their
// tasks when it is committed.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/scheduler.h"
#include "coroutine/wait_queue.h"
#include "framework/store/detail/sqlite_file.h"
#include "framework/store/sqlite_store.h"

namespace corolane::framework::detail {

// A call in flight. Its task and the thread share it: a task that gives up leaves it behind.
class SqliteCall {
 public:
  // A mark is kept in memory and not in the file: it needs no commit.
  enum class Effect : std::uint8_t { reads, marks, changes };

  // `bytes` is the memory it holds while it waits.
  SqliteCall(std::size_t bytes, Effect effect) : bytes_(bytes), effect_(effect) {}
  virtual ~SqliteCall() = default;
  SqliteCall(const SqliteCall&) = delete;
  SqliteCall& operator=(const SqliteCall&) = delete;

 private:
  friend class SqliteWriter;
  enum class State : std::uint8_t { waits, runs, has_ended, was_left };

  // Runs on the writer's thread, in a transaction. Returns errors of the file; a refusal of this
  // call alone is part of its own result.
  virtual Result<void> run(SqliteFile& file) = 0;

  // Called by the thread. begin() returns false when the task has given up; end() wakes the task.
  bool begin();
  static void end(std::shared_ptr<SqliteCall> call, const Result<void>& outcome);
  // Called last by the task, whether it was woken or gives up. Returns the former state.
  State leave();

  const std::size_t bytes_;
  const Effect effect_;
  coroutine::Scheduler& home_ = coroutine::Scheduler::current();
  std::mutex mutex_;
  State state_ = State::waits;                  // Guarded by mutex_.
  Result<void> outcome_;                        // Owned by the thread until the end, then by the
                                                // task.
  coroutine::WaitQueue ended_{"object store"};  // Owned by the task.
};

class SqliteWriter {
 public:
  // `name` is the context of every error.
  SqliteWriter(std::string name, std::unique_ptr<SqliteFile> file,
               const SqliteStore::Options& options);
  // No call may be in progress; abandoned calls are not begun any more. Blocks until the last
  // commit has ended and the file is closed.
  ~SqliteWriter();
  SqliteWriter(const SqliteWriter&) = delete;
  SqliteWriter& operator=(const SqliteWriter&) = delete;

  // Suspends until the call has run and is committed. May be called by tasks of any scheduler.
  // Fails as the file does, with resource_exhausted when the queue is full, with deadline_exceeded
  // or cancelled; with maybe_executed when a change or a mark may have been made.
  Result<void> perform(const std::shared_ptr<SqliteCall>& call, Deadline deadline);

 private:
  using Batch = std::vector<std::shared_ptr<SqliteCall>>;
  using Part = std::span<std::shared_ptr<SqliteCall>>;

  Result<void> run(const std::shared_ptr<SqliteCall>& call, Deadline deadline);
  Result<void> enqueue(const std::shared_ptr<SqliteCall>& call);
  void serve(const std::stop_token& stop);
  Batch next_batch(const std::stop_token& stop);
  void perform(Part part);
  Result<void> commit(Part part);

  const std::string name_;
  const SqliteStore::Options options_;
  std::unique_ptr<SqliteFile> file_;  // Owned by the thread.
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::deque<std::shared_ptr<SqliteCall>> queue_;  // Guarded by mutex_, as are
  std::size_t queue_bytes_ = 0;                    // the bytes of its calls,
  std::size_t wanted_count_ = 1;                   // and the length that wakes the thread.
  std::jthread thread_;
};

}  // namespace corolane::framework::detail
