// SPDX-License-Identifier: MIT
#include "framework/store/detail/store_gate.h"

#include <algorithm>
#include <chrono>

#include "coroutine/base/clock.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "rpc/observe/tracing.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr Duration log_interval = 10s;
constexpr Duration try_interval = 1s;

// Whether the error indicates a problem of the store: neither a decision of it nor the end of the
// caller's wait.
bool is_trouble(Code code) {
  return code != Code::aborted && code != Code::cancelled && code != Code::deadline_exceeded;
}

// A store that rejects our credentials says nothing about the caller's.
Code code_for_callers(Code code) {
  const bool is_about_us = code == Code::unauthenticated || code == Code::permission_denied;
  return is_about_us ? Code::unavailable : code;
}

// A store that sends a retry delay is busy, not full.
bool is_of_a_full_store(const Error& error) {
  return error.code() == Code::resource_exhausted && error.retry_after() == 0ms;
}

std::uint64_t microseconds_since(TimePoint start) {
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(now() - start).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(whole, 0));
}

const char* text_for_callers(const Error& error) {
  switch (error.code()) {
    case Code::resource_exhausted:
      return is_of_a_full_store(error) ? "the store is full" : "the store has too much to do";
    case Code::deadline_exceeded:
      return "the store did not answer in time";
    case Code::cancelled:
      return "cancelled while waiting for the store";
    default:
      return "the store is not available";
  }
}

}  // namespace

StoreGate::Question::Question(Question*& first, const char* what, const ObjectKey& key,
                              Deadline deadline)
    : what_(what),
      key_(key),
      task_(coroutine::current_task_id()),
      asked_at_(coroutine::Scheduler::current().turn_time()),
      deadline_(deadline),
      next_(first),
      link_(&first) {
  if (next_ != nullptr) next_->link_ = &next_;
  first = this;
}

StoreGate::Question::~Question() {
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
}

template <typename T>
Result<T> StoreGate::told(Result<T> result) {
  if (result) return result;
  const Error& error = result.error();
  if (error.code() == Code::aborted) return result;
  if (error.code() != Code::cancelled) ++statistics_.error_count;
  if (is_trouble(error.code())) note(error);
  Error own(code_for_callers(error.code()), text_for_callers(error));
  // A store that is full is asked for room so often.
  const auto retry_after = is_of_a_full_store(error)
                               ? std::chrono::floor<std::chrono::milliseconds>(try_interval)
                               : error.retry_after();
  if (retry_after > 0ms) own = std::move(own).with_retry_after(retry_after);
  if (error.maybe_executed()) own = std::move(own).with_maybe_executed();
  return own;
}

template <typename F>
auto StoreGate::observed(const char* name, const ObjectKey& key, Histogram& took_us, F&& work)
    -> decltype(work()) {
  rpc::Span wait = rpc::Tracer::wait(tracer_, name, rpc::SpanKind::client);
  const TimePoint start = now();
  auto done = work();
  took_us.record(microseconds_since(start));
  auto result = told(std::move(done));
  if (wait.is_recorded()) [[unlikely]] {
    wait.attribute("corolane.object.type", key.type);
    wait.attribute("corolane.object.id", key.id);
    wait.attribute("corolane.store", store_->name());
    if (!result) wait.fail(result.error());
  }
  return result;
}

void StoreGate::note(const Error& error) {
  ++unlogged_count_;
  last_trouble_ = error.to_string();
  const TimePoint time = now();
  if (logged_at_ == TimePoint{} || time - logged_at_ >= log_interval) {
    logged_at_ = time;
    log_.error("the store fails",
               {{"error", error.to_string()}, {"count", std::exchange(unlogged_count_, 0)}});
  }
  if (!is_of_a_full_store(error)) return;
  health_.set_full(true);
  if (tries_) return;
  auto spawned = trying_.spawn("store that is full", [this] { try_again(); },
                               {.purpose = coroutine::StackPool::Purpose::control});
  tries_ = spawned.has_value();
  // Otherwise the store would count as full for ever.
  if (!tries_) health_.set_full(false);
}

// One part of a store may be full while others take writes, so only this finds room again.
void StoreGate::try_again() {
  while (health_.is_full() && coroutine::sleep_for(try_interval)) {
    if (store_->try_room(Deadline::after(try_interval))) health_.set_full(false);
  }
  tries_ = false;
  if (health_.is_full()) return;
  logged_at_ = {};
  log_.info("the store has room again");
}

Result<std::uint64_t> StoreGate::next_epoch(Deadline deadline) {
  auto epoch = store_->next_epoch(deadline);
  if (epoch || !is_of_a_full_store(epoch.error())) return told(std::move(epoch));
  auto owed = store_->owed_epoch(deadline);
  auto refused = told(std::move(epoch));
  return owed ? owed : refused;
}

Result<std::uint64_t> StoreGate::owed_epoch(Deadline deadline) {
  return told(store_->owed_epoch(deadline));
}

Result<StoredObject> StoreGate::seal(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) {
  const Question question(questions_, "load", key, deadline);
  return observed("store read", key, statistics_.read_us,
                  [&] { return store_->seal(key, epoch, deadline); });
}

Result<void> StoreGate::release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) {
  return told(store_->release(key, epoch, deadline));
}

Result<void> StoreGate::write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                              const ObjectWrite& object, Deadline deadline) {
  const Question question(questions_, "write", key, deadline);
  return observed("store write", key, statistics_.write_us,
                  [&] { return store_->write(key, epoch, version, object, deadline); });
}

Result<std::vector<DueObject>> StoreGate::due(Partition partition, WallTime until,
                                              std::size_t count_max, Deadline deadline) {
  return told(store_->due(partition, until, count_max, deadline));
}

Result<std::size_t> StoreGate::forget(Partition partition, WallTime now, std::size_t count_max,
                                      Deadline deadline) {
  return told(store_->forget(partition, now, count_max, deadline));
}

Result<DirectoryMark> StoreGate::note_directory(const DirectoryMark& mark,
                                                const NoteOptions& options, Deadline deadline) {
  return told(store_->note_directory(mark, options, deadline));
}

}  // namespace corolane::framework::detail
