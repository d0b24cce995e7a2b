// SPDX-License-Identifier: MIT
// A local directory behind messages that are late or lost.
#include "framework/testing/directory_server.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/cluster/cluster.h"
#include "framework/testing/question.h"

namespace corolane::sim {
namespace {

using framework::Directory;

constexpr std::uint64_t directory_concern = 3;
// Longer than any caller waits for an answer.
constexpr Duration too_late = std::chrono::seconds(15);
// The delay of a late transaction: most callers have given up by then.
constexpr Duration late_by_max = std::chrono::seconds(8);
// The time from a keepalive to the fence, with room for the clocks of nodes.
constexpr Duration former_lease_time = std::chrono::seconds(5);
// The fields of an answer, and of an entry beside its key and its value, which are in base64: the
// JSON of etcd.
constexpr std::uint64_t answer_bytes = 150;
constexpr std::uint64_t entry_bytes = 110;
constexpr Duration leader_look_interval = std::chrono::milliseconds(10);

}  // namespace

// A watch of one node, known to the node and to the server.
struct DirectoryServer::Watching {
  Watching(Fabric& fabric, Host& node, Host& server, std::string keys, Directory::Revision first)
      : line(fabric, node, server), prefix(std::move(keys)), from(first), life(node.life()) {}

  Line line;
  const std::string prefix;
  const Directory::Revision from;
  const std::uint64_t life;
  // Used by the node.
  coroutine::Event news{"a change of the directory"};
  std::vector<Directory::Change> told;
  std::optional<Error> ended_by;
  bool is_left = false;
  // Used by the server.
  std::vector<Directory::Change> to_tell;
  TimePoint last_told{};
  coroutine::TaskGroup* task = nullptr;
};

class DirectoryServer::Remote final : public framework::Directory {
 public:
  Remote(DirectoryServer& server, Host& node)
      : server_(server), node_(node), line_(server.fabric_, node, server.host_) {}

  Result<Lease> grant(std::chrono::seconds time_to_live, Deadline deadline) override {
    return ask<Lease>(deadline, [time_to_live](Directory& table) {
      return table.grant(time_to_live, Deadline::never());
    });
  }
  Result<void> keep_alive(Lease lease, Deadline deadline) override {
    return ask<void>(
        deadline, [lease](Directory& table) { return table.keep_alive(lease, Deadline::never()); },
        /*is_keepalive=*/true);
  }
  Result<void> revoke(Lease lease, Deadline deadline) override {
    return ask<void>(deadline,
                     [lease](Directory& table) { return table.revoke(lease, Deadline::never()); });
  }
  Result<Snapshot> list(std::string_view prefix, Deadline deadline) override {
    return ask<Snapshot>(deadline, [prefix = std::string(prefix), &server = server_,
                                    node = node_.index()](Directory& table) {
      auto snapshot = table.list(prefix, Deadline::never());
      ++server.reads_[node].list_count;
      server.note_answer(node, snapshot->entries);
      return snapshot;
    });
  }
  Result<Recent> list_since(std::string_view prefix, Revision since, Deadline deadline) override {
    return ask<Recent>(deadline, [prefix = std::string(prefix), since, &server = server_,
                                  node = node_.index()](Directory& table) {
      auto recent = table.list_since(prefix, since, Deadline::never());
      server.note_answer(node, recent->entries);
      return recent;
    });
  }
  Result<Snapshot> read(std::span<const std::string> keys, Deadline deadline) override {
    return ask<Snapshot>(deadline, [keys = std::vector(keys.begin(), keys.end()), &server = server_,
                                    node = node_.index()](Directory& table) {
      auto snapshot = table.read(keys, Deadline::never());
      if (snapshot) server.note_answer(node, snapshot->entries);
      return snapshot;
    });
  }
  Result<Outcome> commit(const Transaction& transaction, Deadline deadline) override {
    return ask<Outcome>(deadline, [transaction, &server = server_](Directory& table) {
      if (server.happens(server.condition_.late_one_in)) {
        static_cast<void>(coroutine::sleep_for(server.dice_.up_to(late_by_max)));
      }
      return table.commit(transaction, Deadline::never());
    });
  }

  Result<void> watch(std::string_view prefix, Revision from, const OnChange& on_change) override {
    if (!node_.is_alive()) return Error(Code::unavailable, "the process ends");
    const auto watching = std::make_shared<Watching>(server_.fabric_, node_, server_.host_,
                                                     std::string(prefix), from);
    watching->line.say([&server = server_, watching] {
      server.host_.spawn("watch", [&server, watching] { server.watch(watching); });
    });
    for (;;) {
      for (const Change& change : std::exchange(watching->told, {})) on_change(change);
      if (watching->ended_by) return *watching->ended_by;
      watching->news.reset();
      if (!watching->told.empty() || watching->ended_by) continue;
      auto waited = watching->news.wait(Deadline::never());
      if (waited) continue;
      watching->line.say([watching] {
        watching->is_left = true;
        if (watching->task != nullptr) watching->task->cancel();
      });
      return waited;
    }
  }

  bool is_shared() const override { return true; }
  std::string name() const override { return "simulated directory"; }

 private:
  template <typename T, typename F>
  Result<T> ask(Deadline deadline, F serve, bool is_keepalive = false) {
    return line_.ask<T>(deadline,
                        [&server = server_, serve = std::move(serve), is_keepalive]() -> Result<T> {
                          // The delay comes before the work or after it.
                          const bool is_slow_to_answer = server.dice_.one_in(2);
                          if (!is_slow_to_answer) server.be_slow(is_keepalive);
                          server.wait_for_leader();
                          if (server.table_ == nullptr)
                            return Error(Code::unavailable, "the directory shuts down");
                          auto answer = serve(*server.table_);
                          if (is_slow_to_answer) server.be_slow(is_keepalive);
                          if (server.happens(server.condition_.loses_one_in)) {
                            static_cast<void>(coroutine::sleep_for(too_late));
                          }
                          return answer;
                        });
  }

  DirectoryServer& server_;
  Host& node_;
  Line line_;
};

DirectoryServer::DirectoryServer(Simulation& simulation, Fabric& fabric)
    : simulation_(simulation),
      fabric_(fabric),
      dice_(simulation.dice(directory_concern)),
      host_(simulation.add_host("directory")) {
  start();
}

void DirectoryServer::start() {
  host_.start([this] {
    framework::LocalDirectory table(/*first_revision=*/0);
    table_ = &table;
    static_cast<void>(coroutine::sleep_until(Deadline::never()));
    host_.end_tasks();
    if (table_ == &table) table_ = nullptr;
  });
}

void DirectoryServer::replace() {
  // Nobody has joined one that was not accepted.
  if (is_accepted_) {
    std::array<std::uint64_t, framework::partition_count_max> epochs{};
    for (std::size_t i = 0; i < epochs.size(); ++i) {
      epochs[i] = owner_of({}, static_cast<framework::Partition>(i));
    }
    // Without owners nobody relies on its leases.
    if (std::ranges::any_of(epochs, std::identity())) {
      former_epochs_ = epochs;
      replaced_at_ = simulation_.now();
    }
    is_accepted_ = false;
  }
  host_.kill();
  table_ = nullptr;
  start();
}

void DirectoryServer::accept() {
  if (is_accepted_) return;
  is_accepted_ = true;
  ++generation_;
  host_.post([this, generation = generation_] {
    if (table_ == nullptr) return;
    static_cast<void>(table_->commit({.puts = {{.key = framework::Cluster::generation_key(),
                                                .value = std::to_string(generation)}}},
                                     Deadline::never()));
  });
}

void DirectoryServer::pin(framework::Partition partition, const std::string& node) {
  host_.post([this, key = framework::Cluster::pin_key({}, partition), node] {
    if (table_ == nullptr) return;
    Directory::Transaction change;
    if (node.empty()) {
      change.removals.push_back(key);
    } else {
      change.puts.push_back({.key = key, .value = framework::Cluster::pin_value({.node = node})});
    }
    static_cast<void>(table_->commit(change, Deadline::never()));
  });
}

std::shared_ptr<framework::Directory> DirectoryServer::directory_of(Host& node) {
  return std::make_shared<Remote>(*this, node);
}

std::uint64_t DirectoryServer::owner_of(const framework::Placement& placement,
                                        framework::Partition partition) const {
  // Nodes may rely on their former leases for a while, whatever operators do.
  const bool has_former_leases =
      replaced_at_ != TimePoint{} && simulation_.now() < replaced_at_ + former_lease_time;
  if (!is_accepted_ || has_former_leases) return former_epochs_[partition];
  const Directory::Entry entry = entry_of(placement, partition);
  // The node's own entry vanishes with its lease.
  const std::string node = entry.value.substr(0, entry.value.find(' '));
  if (table_ == nullptr || !table_->find("nodes/" + node)) return 0;
  return framework::DirectoryMark::epoch(generation_, entry.modified_at);
}

std::string DirectoryServer::owner_name(const framework::Placement& placement,
                                        framework::Partition partition) const {
  return entry_of(placement, partition).value;
}

Directory::Entry DirectoryServer::entry_of(const framework::Placement& placement,
                                           framework::Partition partition) const {
  if (table_ == nullptr) return {};
  const std::string key = framework::Cluster::owner_key(placement, partition);
  return table_->find(key).value_or(Directory::Entry{});
}

void DirectoryServer::note_answer(std::size_t node, const std::vector<Directory::Entry>& entries) {
  Reads& reads = reads_[node];
  ++reads.request_count;
  reads.bytes += answer_bytes;
  for (const Directory::Entry& entry : entries) note_entry(node, entry);
}

void DirectoryServer::note_entry(std::size_t node, const Directory::Entry& entry) {
  Reads& reads = reads_[node];
  ++reads.entry_count;
  reads.bytes += entry_bytes + (entry.key.size() + entry.value.size()) * 4 / 3;
}

// Runs in a task of the server. Suspends.
void DirectoryServer::be_slow(bool is_keepalive) {
  const Duration longest = is_keepalive
                               ? std::max(condition_.slow_by_max, condition_.lease_delay_max)
                               : condition_.slow_by_max;
  if (longest > Duration::zero()) static_cast<void>(coroutine::sleep_for(dice_.up_to(longest)));
}

void DirectoryServer::wait_for_leader() {
  while (!condition_.has_leader && coroutine::sleep_for(leader_look_interval)) {
  }
}

// Runs in a task of the server until the watch ends.
void DirectoryServer::watch(const std::shared_ptr<Watching>& watching) {
  if (table_ == nullptr || watching->is_left) return;
  const auto tell = [this, watching](const Directory::Change& change) {
    if (watching->line.client().life() != watching->life) return watching->task->cancel();
    if (happens(condition_.gap_one_in)) return;
    note_entry(watching->line.client().index(), change.entry);
    watching->to_tell.push_back(change);
    if (watching->to_tell.size() > 1) return;
    // The changes of one step are sent together.
    host_.after_step([this, watching] {
      watching->last_told = std::max(simulation_.now() + dice_.up_to(condition_.watch_delay_max),
                                     watching->last_told + Duration(1));
      simulation_.at(watching->last_told, host_,
                     [watching, changes = std::exchange(watching->to_tell, {})] {
                       if (watching->line.client().life() != watching->life) return;
                       watching->line.tell([watching, changes] {
                         std::ranges::copy(changes, std::back_inserter(watching->told));
                         watching->news.set();
                       });
                     });
    });
  };
  coroutine::TaskGroup task;
  watching->task = &task;
  std::optional<Error> ended_by;
  auto spawned = task.spawn("watch", [&] {
    auto watched = table_->watch(watching->prefix, watching->from, tell);
    if (!watched) ended_by = watched.error();
  });
  if (spawned) static_cast<void>(task.join(Deadline::never()));
  task.cancel_and_join();
  watching->task = nullptr;
  if (!ended_by || watching->is_left || watching->line.client().life() != watching->life) return;
  watching->line.tell([watching, error = *ended_by] {
    watching->ended_by = error;
    watching->news.set();
  });
}

}  // namespace corolane::sim
