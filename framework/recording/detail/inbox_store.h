// SPDX-License-Identifier: MIT
// The store of a recorded or replayed node, if it is not accessed over the network: calls of its
// inbox.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/recording/detail/inbox.h"
#include "framework/store/store.h"

namespace corolane::framework::recording {

class InboxStore final : public Store {
 public:
  // `inbox` outlives it.
  InboxStore(Inbox& inbox, std::string name) : inbox_(inbox), name_(std::move(name)) {}

  Result<std::uint64_t> next_epoch(Deadline deadline) override;
  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object, Deadline deadline) override;
  Result<std::vector<DueObject>> due(Partition partition, WallTime until, std::size_t count_max,
                                     Deadline deadline) override;
  Result<std::size_t> forget(Partition partition, WallTime now, std::size_t count_max,
                             Deadline deadline) override;
  bool is_shared() const override { return false; }
  std::string name() const override { return name_; }

 private:
  Result<Stored> call(StoreCall call, Deadline deadline);

  Inbox& inbox_;
  const std::string name_;
};

// Executes `call` on `store`, for the other side of the inbox. Suspends.
Result<Stored> perform(Store& store, const StoreCall& call);

}  // namespace corolane::framework::recording
