// The thread that works on the file of an SqliteStore, and the road of calls to it and back.
//
// A commit waits for the disk, and costs the same for one call and for a hundred. So the thread
// takes all calls that have come while it was busy, makes one transaction of them, and wakes their
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

// A call on its way. Its task and the thread both hold it: a task that gives up leaves it behind.
class SqliteCall {
 public:
  // A mark is kept by the thread and not in the file: it needs no commit.
  enum class Effect : std::uint8_t { reads, marks, changes };

  // `bytes` are what it holds while it waits.
  SqliteCall(std::size_t bytes, Effect effect) : bytes_(bytes), effect_(effect) {}
  virtual ~SqliteCall() = default;
  SqliteCall(const SqliteCall&) = delete;
  SqliteCall& operator=(const SqliteCall&) = delete;

 private:
  friend class SqliteWriter;
  enum class State : std::uint8_t { waits, runs, has_ended, was_left };

  // On the writer's thread, in a transaction. An error is one of the file; what the call alone is
  // refused for is its own affair.
  virtual Result<void> run(SqliteFile& file) = 0;

  // What the thread does. The first returns false when nobody waits any more; the second wakes who
  // does.
  bool begin();
  static void end(std::shared_ptr<SqliteCall> call, const Result<void>& outcome);
  // What the task does at last, whether it was woken or gives up. Returns the state before.
  State leave();

  const std::size_t bytes_;
  const Effect effect_;
  coroutine::Scheduler& home_ = coroutine::Scheduler::current();
  std::mutex mutex_;
  State state_ = State::waits;                  // Guarded by mutex_.
  Result<void> outcome_;                        // The thread's until it has ended, then the task's.
  coroutine::WaitQueue ended_{"object store"};  // The task's.
};

class SqliteWriter {
 public:
  // `name` is the context of every error.
  SqliteWriter(std::string name, std::unique_ptr<SqliteFile> file,
               const SqliteStore::Options& options);
  // No task is inside of a call; what those left behind is not begun any more. Blocks until the
  // last commit is done and the file is closed.
  ~SqliteWriter();
  SqliteWriter(const SqliteWriter&) = delete;
  SqliteWriter& operator=(const SqliteWriter&) = delete;

  // Suspends until the call has run and is committed. From any scheduler's task. Fails as the file
  // does, with resource_exhausted when too much waits already, with deadline_exceeded or cancelled;
  // with maybe_executed when a change or a mark may have been made.
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
  std::unique_ptr<SqliteFile> file_;  // The thread's.
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::deque<std::shared_ptr<SqliteCall>> queue_;  // Guarded by mutex_, as are
  std::size_t queue_bytes_ = 0;                    // the bytes of what is in it,
  std::size_t wanted_count_ = 1;                   // and how many wake the thread.
  std::jthread thread_;
};

}  // namespace corolane::framework::detail
