// SPDX-License-Identifier: MIT
#include "framework/store/sqlite_store.h"

#include <optional>
#include <type_traits>
#include <utility>

#include "framework/store/detail/sqlite_file.h"
#include "framework/store/detail/sqlite_writer.h"

namespace corolane::framework {
namespace {

using detail::SqliteCall;
using detail::SqliteFile;
using detail::SqliteWriter;
using Effect = SqliteCall::Effect;

// An ObjectKey that outlives its caller.
struct OwnedKey {
  explicit OwnedKey(const ObjectKey& key) : type(key.type), id(key.id), partition(key.partition) {}
  ObjectKey view() const { return {.type = type, .id = id, .partition = partition}; }

  std::string type;
  std::string id;
  Partition partition;
};

std::size_t size_of(const ObjectKey& key) { return key.type.size() + key.id.size(); }

// A queued function on the file, and its result.
template <typename Work>
class FileCall final : public SqliteCall {
 public:
  using Returned = std::invoke_result_t<Work&, SqliteFile&>;

  FileCall(std::size_t bytes, Effect effect, Work work)
      : SqliteCall(bytes, effect), work_(std::move(work)) {}

  Returned take_result() { return *std::move(result_); }

 private:
  Result<void> run(SqliteFile& file) override {
    result_.emplace(work_(file));
    // The error concerns only this call.
    if (*result_ || result_->error().code() == Code::aborted) return {};
    return result_->error();
  }

  Work work_;
  std::optional<Returned> result_;
};

template <typename Work>
auto make_call(std::size_t bytes, Effect effect, Work work) {
  return std::make_shared<FileCall<Work>>(bytes, effect, std::move(work));
}

// Suspends until the call is committed, and returns the result of its function.
template <typename Call>
Call::Returned perform(SqliteWriter& writer, const std::shared_ptr<Call>& call, Deadline deadline) {
  if (auto performed = writer.perform(call, deadline); !performed) {
    return std::move(performed.error());
  }
  return call->take_result();
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path) {
  return open(path, Options{});
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path,
                                                       const Options& options) {
  std::string name = "sqlite " + path;
  auto file = SqliteFile::open(path);
  if (!file) return std::move(file.error()).with_context(name);
  auto writer = std::make_unique<SqliteWriter>(name, std::move(*file), options);
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(name), std::move(writer)));
}

SqliteStore::SqliteStore(std::string name, std::unique_ptr<SqliteWriter> writer)
    : name_(std::move(name)), writer_(std::move(writer)) {}

SqliteStore::~SqliteStore() = default;

Result<std::uint64_t> SqliteStore::next_epoch(Deadline deadline) {
  const auto call =
      make_call(0, Effect::changes, [](SqliteFile& file) { return file.next_epoch(); });
  return perform(*writer_, call, deadline);
}

Result<std::uint64_t> SqliteStore::owed_epoch(Deadline deadline) {
  const auto call = make_call(0, Effect::reads, [](SqliteFile& file) { return file.owed_epoch(); });
  return perform(*writer_, call, deadline);
}

Result<StoredObject> SqliteStore::seal(const ObjectKey& key, std::uint64_t epoch,
                                       Deadline deadline) {
  const auto call = make_call(
      size_of(key), Effect::marks,
      [key = OwnedKey(key), epoch](SqliteFile& file) { return file.seal(key.view(), epoch); });
  return perform(*writer_, call, deadline);
}

Result<void> SqliteStore::release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) {
  const auto call = make_call(
      size_of(key), Effect::marks,
      [key = OwnedKey(key), epoch](SqliteFile& file) { return file.release(key.view(), epoch); });
  return perform(*writer_, call, deadline);
}

Result<void> SqliteStore::write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                                const ObjectWrite& object, Deadline deadline) {
  const auto call =
      make_call(size_of(key) + object.bytes.size(), Effect::changes,
                [key = OwnedKey(key), epoch, version, bytes = std::string(object.bytes),
                 wake_at = object.wake_at, forget_at = object.forget_at,
                 new_version = object.new_version](SqliteFile& file) {
                  return file.write(key.view(), epoch, version,
                                    {.bytes = bytes,
                                     .wake_at = wake_at,
                                     .forget_at = forget_at,
                                     .new_version = new_version});
                });
  return perform(*writer_, call, deadline);
}

Result<std::vector<DueObject>> SqliteStore::due(Partition partition, WallTime until,
                                                std::size_t count_max, Deadline deadline) {
  const auto call = make_call(
      0, Effect::reads, [=](SqliteFile& file) { return file.due(partition, until, count_max); });
  return perform(*writer_, call, deadline);
}

Result<std::size_t> SqliteStore::forget(Partition partition, WallTime now, std::size_t count_max,
                                        Deadline deadline) {
  const auto call = make_call(
      0, Effect::changes, [=](SqliteFile& file) { return file.forget(partition, now, count_max); });
  return perform(*writer_, call, deadline);
}

}  // namespace corolane::framework
