// SPDX-License-Identifier: MIT
#include "framework/store/detail/sqlite_writer.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "framework/store/detail/refusals.h"

namespace corolane::framework::detail {
namespace {

// A call that changes nothing has no unknown outcome: drops maybe_executed.
Result<void> without_doubt(const Result<void>& outcome) {
  if (outcome || !outcome.error().maybe_executed()) return outcome;
  return Error(outcome.error().code(), outcome.error().message());
}

// Leaves the handling of stop signals to other threads.
void leave_stop_signals_to_others() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

bool SqliteCall::begin() {
  const std::scoped_lock lock(mutex_);
  if (state_ == State::was_left) return false;
  state_ = State::runs;
  return true;
}

void SqliteCall::end(std::shared_ptr<SqliteCall> call, const Result<void>& outcome) {
  const std::scoped_lock lock(call->mutex_);
  if (call->state_ == State::was_left) return;
  call->outcome_ = call->effect_ == Effect::changes ? outcome : without_doubt(outcome);
  call->state_ = State::has_ended;
  // Posted under the lock, which the task takes before it leaves: its scheduler lives until then.
  coroutine::Scheduler& home = call->home_;
  home.post([call = std::move(call)] { call->ended_.notify_all(); });
}

SqliteCall::State SqliteCall::leave() {
  const std::scoped_lock lock(mutex_);
  const State before = state_;
  if (before != State::has_ended) state_ = State::was_left;
  return before;
}

SqliteWriter::SqliteWriter(std::string name, std::unique_ptr<SqliteFile> file,
                           const SqliteStore::Options& options)
    : name_(std::move(name)),
      options_(options),
      file_(std::move(file)),
      thread_([this](const std::stop_token& stop) {
        leave_stop_signals_to_others();
        // The name is shown in lists of threads.
        pthread_setname_np(pthread_self(), "object store");
        serve(stop);
      }) {}

SqliteWriter::~SqliteWriter() = default;

Result<void> SqliteWriter::perform(const std::shared_ptr<SqliteCall>& call, Deadline deadline) {
  auto ran = run(call, deadline);
  if (!ran) return std::move(ran.error()).with_context(name_);
  return {};
}

Result<void> SqliteWriter::run(const std::shared_ptr<SqliteCall>& call, Deadline deadline) {
  if (auto may = check_may_begin(deadline); !may) return may;
  if (auto queued = enqueue(call); !queued) return queued;
  auto waited = call->ended_.wait_or_fail(deadline);
  const auto state = call->leave();
  if (state == SqliteCall::State::has_ended) return std::move(call->outcome_);
  if (state == SqliteCall::State::waits || call->effect_ == SqliteCall::Effect::reads) {
    return waited;
  }
  return std::move(waited.error()).with_maybe_executed();
}

Result<void> SqliteWriter::enqueue(const std::shared_ptr<SqliteCall>& call) {
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.size() >= options_.queue_count_max ||
        call->bytes_ > options_.queue_bytes_max - queue_bytes_) {
      return Error(Code::resource_exhausted, std::to_string(queue_.size()) + " calls with " +
                                                 std::to_string(queue_bytes_) +
                                                 " bytes are waiting for the disk already")
          .with_retry_after(busy_delay);
    }
    queue_.push_back(call);
    queue_bytes_ += call->bytes_;
    if (queue_.size() != wanted_count_) return {};
  }
  arrived_.notify_one();
  return {};
}

void SqliteWriter::serve(const std::stop_token& stop) {
  for (Batch batch = next_batch(stop); !batch.empty(); batch = next_batch(stop)) {
    std::erase_if(batch, [](const auto& call) { return !call->begin(); });
    if (batch.empty()) continue;
    // Calls that change nothing have a transaction of their own, so they do not fail with a failed
    // write.
    const auto changes = std::ranges::stable_partition(
        batch, [](const auto& call) { return call->effect_ != SqliteCall::Effect::changes; });
    perform({batch.begin(), changes.begin()});
    perform(changes);
  }
}

// Blocks until there is a call. Returns an empty batch when the thread has to stop and the queue is
// empty.
SqliteWriter::Batch SqliteWriter::next_batch(const std::stop_token& stop) {
  Batch batch;
  std::size_t bytes = 0;
  std::unique_lock lock(mutex_);
  const auto are_there = [this] { return queue_.size() >= wanted_count_; };
  const std::size_t hoped_for_count = std::exchange(wanted_count_, 1);
  arrived_.wait(lock, stop, are_there);
  // The tasks of the last batch have just been woken and will soon call again: a commit for the
  // first of them alone would delay all others.
  wanted_count_ = hoped_for_count;
  arrived_.wait_for(lock, stop, options_.gather_time_max, are_there);
  while (!queue_.empty() && batch.size() < options_.batch_count_max &&
         bytes < options_.batch_bytes_max) {
    bytes += queue_.front()->bytes_;
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  queue_bytes_ -= bytes;
  wanted_count_ = batch.size();
  return batch;
}

void SqliteWriter::perform(Part part) {
  if (part.empty()) return;
  const Result<void> outcome = commit(part);
  if (!outcome) file_->roll_back();
  for (auto& call : part) SqliteCall::end(std::move(call), outcome);
}

Result<void> SqliteWriter::commit(Part part) {
  if (auto begun = file_->begin(); !begun) return begun;
  for (const auto& call : part) {
    if (auto ran = call->run(*file_); !ran) return ran;
  }
  return file_->commit();
}

}  // namespace corolane::framework::detail
