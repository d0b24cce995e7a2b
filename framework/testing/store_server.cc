// SPDX-License-Identifier: MIT
// A memory store behind messages that are late or lost.
#include "framework/testing/store_server.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "coroutine/task.h"
#include "framework/cluster/detail/seeded_bugs.h"

namespace corolane::sim {
namespace {

using framework::ObjectKey;
using framework::StoredObject;

constexpr std::uint64_t store_concern = 2;
// Longer than any caller waits for a write.
constexpr Duration late_by_max = std::chrono::seconds(12);

}  // namespace

// One node's connection to the store.
class StoreServer::Remote final : public framework::Store {
 public:
  Remote(StoreServer& server, Host& node) : server_(server), node_(node) {}

  Result<std::size_t> partition_count(std::size_t, Deadline) override {
    return server_.partition_count_;
  }

  Result<std::uint64_t> next_epoch(Deadline deadline) override {
    return line().ask<std::uint64_t>(deadline, [&server = server_]() -> Result<std::uint64_t> {
      if (auto admitted = server.admit(/*is_write=*/true); !admitted) return admitted.error();
      return server.table_.next_epoch(Deadline::never());
    });
  }

  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override {
    const Names names(key);
    if (COROLANE_SEEDED_BUG(no_seal)) {
      auto loaded = load(names, deadline);
      // The caller relies on being the only writer from here on.
      if (loaded && server_.witness_ != nullptr) server_.witness_->on_sealed(key, epoch);
      return loaded;
    }
    if (COROLANE_SEEDED_BUG(load_before_seal)) {
      auto loaded = load(names, deadline);
      auto sealed = ask_to_seal(names, epoch, deadline);
      return sealed ? loaded : sealed;
    }
    return ask_to_seal(names, epoch, deadline);
  }

  Result<void> release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override {
    const Names names(key);
    return line().ask<void>(deadline, [&server = server_, names, epoch]() -> Result<void> {
      if (auto admitted = server.admit(/*is_write=*/true); !admitted) return admitted.error();
      return server.table_.release(names.key(), epoch, Deadline::never());
    });
  }

  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const framework::ObjectWrite& object, Deadline deadline) override {
    const Request request{.names = Names(key),
                          .epoch = epoch,
                          .version = version,
                          .bytes = std::string(object.bytes),
                          .wake_at = object.wake_at,
                          .forget_at = object.forget_at,
                          .new_version = object.version_after(version)};
    return line().ask<void>(deadline, [&server = server_, request]() -> Result<void> {
      if (server.happens(server.condition_.late_one_in)) {
        server.be_late(request.names.key());
      }
      if (auto admitted = server.admit(/*is_write=*/true); !admitted) return admitted.error();
      auto written = apply(server, request);
      if (written && server.happens(server.condition_.loses_one_in)) {
        static_cast<void>(coroutine::sleep_for(late_by_max));
      }
      return written;
    });
  }

  Result<std::vector<framework::DueObject>> due(framework::Partition partition,
                                                framework::WallTime until, std::size_t count_max,
                                                Deadline deadline) override {
    using Due = std::vector<framework::DueObject>;
    return line().ask<Due>(
        deadline, [&server = server_, partition, until, count_max]() -> Result<Due> {
          if (auto admitted = server.admit(/*is_write=*/false); !admitted) return admitted.error();
          return server.table_.due(partition, until, count_max, Deadline::never());
        });
  }

  Result<std::size_t> forget(framework::Partition partition, framework::WallTime now,
                             std::size_t count_max, Deadline deadline) override {
    return line().ask<std::size_t>(
        deadline, [&server = server_, partition, now, count_max]() -> Result<std::size_t> {
          if (auto admitted = server.admit(/*is_write=*/true); !admitted) return admitted.error();
          return server.table_.forget(partition, now, count_max, Deadline::never());
        });
  }

  Result<framework::DirectoryMark> note_directory(const framework::DirectoryMark& mark,
                                                  const framework::NoteOptions& options,
                                                  Deadline deadline) override {
    return line().ask<framework::DirectoryMark>(
        deadline, [&server = server_, mark, options]() -> Result<framework::DirectoryMark> {
          if (auto admitted = server.admit(/*is_write=*/true); !admitted) return admitted.error();
          return server.table_.note_directory(mark, options, Deadline::never());
        });
  }

  bool is_shared() const override { return true; }
  std::string name() const override { return "simulated store"; }

 private:
  struct Names {
    explicit Names(const ObjectKey& key) : type(key.type), id(key.id), partition(key.partition) {}
    ObjectKey key() const { return {.type = type, .id = id, .partition = partition}; }
    std::string type;
    std::string id;
    framework::Partition partition;
  };
  struct Request {
    Names names;
    std::uint64_t epoch;
    std::uint64_t version;
    std::string bytes;
    std::optional<framework::WallTime> wake_at;
    std::optional<framework::WallTime> forget_at;
    std::uint64_t new_version;
  };

  Result<StoredObject> ask_to_seal(const Names& names, std::uint64_t epoch, Deadline deadline) {
    return line().ask<StoredObject>(
        deadline, [&server = server_, names, epoch]() -> Result<StoredObject> {
          if (auto admitted = server.admit(/*is_write=*/true); !admitted) return admitted.error();
          server.let_late_ones_go_first(names.key());
          auto sealed = server.table_.seal(names.key(), epoch, Deadline::never());
          if (sealed && server.witness_ != nullptr) server.witness_->on_sealed(names.key(), epoch);
          return sealed;
        });
  }

  // Loads an object as a store without seals would.
  Result<StoredObject> load(const Names& names, Deadline deadline) {
    return line().ask<StoredObject>(deadline, [&server = server_, names]() -> Result<StoredObject> {
      if (auto admitted = server.admit(/*is_write=*/false); !admitted) return admitted.error();
      const ObjectKey key = names.key();
      const std::uint64_t epoch = server.table_.look(key).epoch;
      return server.table_.seal(key, epoch, Deadline::never());
    });
  }

  // Each thread of the node has a connection of its own.
  Line& line() {
    Host& thread = node_.running();
    const auto made = lines_.try_emplace(thread.index(), nullptr);
    if (made.second) {
      made.first->second = std::make_unique<Line>(server_.fabric_, thread, server_.host_);
    }
    return *made.first->second;
  }

  static Result<void> apply(StoreServer& server, const Request& request) {
    const ObjectKey key = request.names.key();
    std::uint64_t epoch = request.epoch;
    std::uint64_t version = request.version;
    if (COROLANE_SEEDED_BUG(no_seal)) epoch = server.table_.look(key).epoch;
    if (COROLANE_SEEDED_BUG(version_check_off)) version = server.table_.look(key).object.version;
    auto written = server.table_.write(key, epoch, version,
                                       {.bytes = request.bytes,
                                        .wake_at = request.wake_at,
                                        .forget_at = request.forget_at,
                                        .new_version = request.new_version},
                                       Deadline::never());
    if (written && server.witness_ != nullptr) {
      server.witness_->on_written(key, request.epoch, request.new_version, request.bytes);
    }
    if (written && request.forget_at && COROLANE_SEEDED_BUG(no_tombstone)) {
      static_cast<void>(
          server.table_.forget(key.partition, framework::WallTime::max(), 1, Deadline::never()));
    }
    return written;
  }

  StoreServer& server_;
  Host& node_;
  std::map<std::size_t, std::unique_ptr<Line>> lines_;  // By index of the thread.
};

StoreServer::StoreServer(Simulation& simulation, Fabric& fabric, StoreWitness* witness)
    : fabric_(fabric),
      witness_(witness),
      dice_(simulation.dice(store_concern)),
      host_(simulation.add_host("store")) {
  host_.start([this] {
    static_cast<void>(coroutine::sleep_until(Deadline::never()));
    host_.end_tasks();
  });
}

std::shared_ptr<framework::Store> StoreServer::store_of(Host& node) {
  return std::make_shared<Remote>(*this, node);
}

void StoreServer::begin_losing() {
  if (kept_ == nullptr) kept_ = table_.tables();
}

void StoreServer::lose() {
  if (kept_ == nullptr) return;
  table_.set_back(*std::exchange(kept_, nullptr));
  if (witness_ != nullptr) witness_->on_set_back(table_);
}

// Suspends a task of the server for a while, at most until another owner seals the object.
void StoreServer::be_late(const ObjectKey& key) {
  coroutine::Event seal_comes("a seal of the same object");
  const auto place =
      late_.emplace(std::pair(std::string(key.type), std::string(key.id)), &seal_comes);
  static_cast<void>(seal_comes.wait(Deadline::after(dice_.up_to(late_by_max))));
  late_.erase(place);
}

// A late write may arrive at any time; the worst time is right before a seal.
void StoreServer::let_late_ones_go_first(const ObjectKey& key) {
  const auto [begin, end] =
      late_.equal_range(std::pair(std::string(key.type), std::string(key.id)));
  if (begin == end || dice_.one_in(2)) return;
  for (auto late = begin; late != end; ++late) late->second->set();
  static_cast<void>(coroutine::sleep_for(std::chrono::milliseconds(1)));
}

// Runs in a task of the server. Suspends.
Result<void> StoreServer::admit(bool is_write) {
  if (condition_.slow_by_max > Duration::zero()) {
    static_cast<void>(coroutine::sleep_for(dice_.up_to(condition_.slow_by_max)));
  }
  if (condition_.is_away) return Error(Code::unavailable, "the store is away");
  if (is_write && condition_.is_full) {
    return Error(Code::resource_exhausted, "the disk of the store is full");
  }
  return {};
}

}  // namespace corolane::sim
