// SPDX-License-Identifier: MIT
#include "framework/recording/detail/inbox_store.h"

#include <chrono>
#include <optional>

#include "coroutine/task.h"

namespace corolane::framework::recording {
namespace {

WallTime to_wall_time(std::int64_t milliseconds) {
  return WallTime(std::chrono::milliseconds(milliseconds));
}

std::int64_t to_milliseconds(WallTime time) { return time.time_since_epoch().count(); }

Seal to_message(const ObjectKey& key, std::uint64_t epoch) {
  Seal seal;
  seal.set_type(std::string(key.type));
  seal.set_id(std::string(key.id));
  seal.set_epoch(epoch);
  seal.set_partition(key.partition);
  return seal;
}

ObjectKey key_of(const Seal& seal) {
  return {
      .type = seal.type(), .id = seal.id(), .partition = static_cast<Partition>(seal.partition())};
}

Result<Stored> perform_write(Store& store, const Write& call) {
  ObjectWrite object{.bytes = call.state(), .new_version = call.new_version()};
  if (call.has_wake_at_milliseconds()) object.wake_at = to_wall_time(call.wake_at_milliseconds());
  if (call.has_forget_at_milliseconds()) {
    object.forget_at = to_wall_time(call.forget_at_milliseconds());
  }
  if (auto written = store.write(key_of(call.owner()), call.owner().epoch(), call.version(), object,
                                 Deadline::never());
      !written) {
    return std::move(written.error());
  }
  return Stored();
}

Result<Stored> perform_seal(Store& store, const Seal& call) {
  auto sealed = store.seal(key_of(call), call.epoch(), Deadline::never());
  if (!sealed) return std::move(sealed.error());
  Stored stored;
  stored.set_version(sealed->version);
  stored.set_state(std::move(sealed->bytes));
  stored.set_is_tombstone(sealed->is_tombstone);
  return stored;
}

Result<Stored> perform_release(Store& store, const Seal& call) {
  if (auto done = store.release(key_of(call), call.epoch(), Deadline::never()); !done) {
    return std::move(done.error());
  }
  return Stored();
}

Result<Stored> perform_due(Store& store, const FindDue& call) {
  auto found =
      store.due(static_cast<Partition>(call.partition()), to_wall_time(call.until_milliseconds()),
                call.count_max(), Deadline::never());
  if (!found) return std::move(found.error());
  Stored stored;
  for (const DueObject& object : *found) {
    Due& due = *stored.add_due();
    due.set_type(object.type);
    due.set_id(object.id);
    due.set_wake_at_milliseconds(to_milliseconds(object.wake_at));
  }
  return stored;
}

Result<Stored> perform_forget(Store& store, const FindDue& call) {
  auto count =
      store.forget(static_cast<Partition>(call.partition()),
                   to_wall_time(call.until_milliseconds()), call.count_max(), Deadline::never());
  if (!count) return std::move(count.error());
  Stored stored;
  stored.set_forgotten_count(*count);
  return stored;
}

}  // namespace

Result<Stored> perform(Store& store, const StoreCall& call) {
  switch (call.what_case()) {
    case StoreCall::kSeal:
      return perform_seal(store, call.seal());
    case StoreCall::kRelease:
      return perform_release(store, call.release());
    case StoreCall::kWrite:
      return perform_write(store, call.write());
    case StoreCall::kDue:
      return perform_due(store, call.due());
    case StoreCall::kForget:
      return perform_forget(store, call.forget());
    case StoreCall::kNextEpoch:
    case StoreCall::WHAT_NOT_SET:
      break;
  }
  auto epoch = store.next_epoch(Deadline::never());
  if (!epoch) return std::move(epoch.error());
  Stored stored;
  stored.set_epoch(*epoch);
  return stored;
}

Result<Stored> InboxStore::call(StoreCall call, Deadline deadline) {
  if (coroutine::is_cancelled()) return Error(Code::cancelled, "cancelled before it was asked");
  if (deadline.has_passed()) {
    return Error(Code::deadline_exceeded, "the deadline passed before it was asked");
  }
  const bool is_reading = call.has_due();
  Ask ask;
  *ask.mutable_store() = std::move(call);
  auto answer = inbox_.call(std::move(ask), deadline);
  if (answer) return std::move(*answer->mutable_stored());
  const bool gave_up =
      answer.error().code() == Code::cancelled || answer.error().code() == Code::deadline_exceeded;
  if (gave_up && !is_reading) return std::move(answer.error()).with_maybe_executed();
  return std::move(answer.error());
}

Result<std::uint64_t> InboxStore::next_epoch(Deadline deadline) {
  StoreCall question;
  question.set_next_epoch(true);
  auto answer = call(std::move(question), deadline);
  if (!answer) return std::move(answer.error());
  return answer->epoch();
}

Result<StoredObject> InboxStore::seal(const ObjectKey& key, std::uint64_t epoch,
                                      Deadline deadline) {
  StoreCall question;
  *question.mutable_seal() = to_message(key, epoch);
  auto answer = call(std::move(question), deadline);
  if (!answer) return std::move(answer.error());
  return StoredObject{.version = answer->version(),
                      .bytes = std::move(*answer->mutable_state()),
                      .is_tombstone = answer->is_tombstone()};
}

Result<void> InboxStore::release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) {
  StoreCall question;
  *question.mutable_release() = to_message(key, epoch);
  auto answer = call(std::move(question), deadline);
  if (!answer) return std::move(answer.error());
  return {};
}

Result<void> InboxStore::write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                               const ObjectWrite& object, Deadline deadline) {
  StoreCall question;
  Write& write = *question.mutable_write();
  *write.mutable_owner() = to_message(key, epoch);
  write.set_version(version);
  write.set_state(std::string(object.bytes));
  write.set_new_version(object.new_version);
  if (object.wake_at) write.set_wake_at_milliseconds(to_milliseconds(*object.wake_at));
  if (object.forget_at) write.set_forget_at_milliseconds(to_milliseconds(*object.forget_at));
  if (auto answer = call(std::move(question), deadline); !answer) return std::move(answer.error());
  return {};
}

Result<std::vector<DueObject>> InboxStore::due(Partition partition, WallTime until,
                                               std::size_t count_max, Deadline deadline) {
  StoreCall question;
  question.mutable_due()->set_partition(partition);
  question.mutable_due()->set_until_milliseconds(to_milliseconds(until));
  question.mutable_due()->set_count_max(count_max);
  auto answer = call(std::move(question), deadline);
  if (!answer) return std::move(answer.error());
  std::vector<DueObject> found;
  for (const Due& due : answer->due()) {
    found.push_back(
        {.type = due.type(), .id = due.id(), .wake_at = to_wall_time(due.wake_at_milliseconds())});
  }
  return found;
}

Result<std::size_t> InboxStore::forget(Partition partition, WallTime now, std::size_t count_max,
                                       Deadline deadline) {
  StoreCall question;
  question.mutable_forget()->set_partition(partition);
  question.mutable_forget()->set_until_milliseconds(to_milliseconds(now));
  question.mutable_forget()->set_count_max(count_max);
  auto answer = call(std::move(question), deadline);
  if (!answer) return std::move(answer.error());
  return answer->forgotten_count();
}

}  // namespace corolane::framework::recording
