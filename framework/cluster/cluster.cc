// SPDX-License-Identifier: MIT
#include "framework/cluster/cluster.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "coroutine/base/encoding.h"
#include "coroutine/task.h"
#include "framework/cluster/detail/member_fit.h"
#include "framework/cluster/detail/owner_lookup.h"
#include "framework/cluster/detail/seeded_bugs.h"
#include "net/crypto.h"

namespace corolane::framework {
namespace {

using detail::ClusterTable;
using detail::PartitionKeeper;

// How often the log says that the node may not join.
constexpr Duration refusal_log_interval = std::chrono::seconds(10);
// The directory may be called by HTTP and answer in JSON, which have deep frames.
constexpr coroutine::TaskOptions control = {.stack_size_bytes = 128 * 1024,
                                            .purpose = coroutine::StackPool::Purpose::control};

}  // namespace

Cluster::Cluster(Directory& directory, Fence& fence, Member self,
                 std::vector<PartitionKeeper::Group> groups, Tenants& tenants, Log& log,
                 const Options& options)
    : directory_(directory),
      fence_(fence),
      self_(std::move(self)),
      groups_(std::move(groups)),
      tenants_(tenants),
      log_(log),
      options_(options),
      membership_(directory, fence, log, options.membership),
      rejoin_pause_(options.rejoin),
      view_(table_.view()),
      doubts_(options.doubts) {
  if (!self_.groups.empty()) table_.set_partition_count(self_.partition_count);
}

Error Cluster::Tenants::refuse(const DirectoryMark&, const DirectoryMark&) const {
  return Error(Code::failed_precondition, "the directory was set back");
}

Cluster::~Cluster() { tasks_.cancel_and_join(); }

Result<void> Cluster::start(Deadline deadline) {
  if (auto admitted = admit(deadline); !admitted) return admitted;
  if (auto begun = begin(deadline); !begun) return begun;
  auto spawned = tasks_.spawn("cluster", [this] { run(); }, control);
  if (!spawned) return spawned.error();
  return {};
}

Result<void> Cluster::admit(Deadline deadline) {
  if (!directory_.is_shared() || COROLANE_SEEDED_BUG(directory_trusted)) return {};
  if (auto read = read_table(deadline); !read) return read;
  if (table_.mark().id.empty()) {
    std::array<std::byte, 8> id{};
    net::fill_with_random_bytes(id);
    auto named = directory_.commit({.conditions = {{.key = ClusterTable::id_key(), .revision = 0}},
                                    .puts = {{.key = ClusterTable::id_key(), .value = to_hex(id)}}},
                                   deadline);
    if (!named) return named.error();
    if (auto read = read_table(deadline); !read) return read;
  }
  // The store may not know yet how far the directory has been.
  if (!known_.id.empty() && !is_known_noted_) {
    const auto noted = tenants_.admit(known_, deadline);
    is_known_noted_ = noted || noted.error().code() == Code::failed_precondition;
  }
  auto admitted = check_is_admitted(deadline);
  if (admitted) known_ = table_.mark();
  if (!admitted && admitted.error().code() == Code::failed_precondition) {
    ++statistics_.refusal_count;
  }
  return admitted;
}

Result<void> Cluster::check_is_admitted(Deadline deadline) {
  const auto noted = tenants_.admit(table_.mark(), deadline);
  if (!noted) return noted.error();
  if (noted->revision <= table_.revision()) return {};
  // Another node has seen a later revision meanwhile, or the directory was set back: then it is
  // behind what is noted, whenever it is read.
  if (auto read = read_table(deadline); !read) return read;
  return table_.mark().continues(*noted) ? Result<void>() : tenants_.refuse(table_.mark(), *noted);
}

// Replaces the table, also by one of an earlier revision: all that a node outside of the cluster
// needs of it is which directory it is.
Result<void> Cluster::read_table(Deadline deadline) {
  const std::string keys[] = {ClusterTable::id_key(), ClusterTable::generation_key()};
  const auto snapshot = directory_.read(keys, deadline);
  if (!snapshot) return snapshot.error();
  table_.load(*snapshot);
  return {};
}

// Returns false when it is cancelled, or the node drains.
bool Cluster::begin_again() {
  const auto deadline = [this] { return Deadline::after(options_.partitions.commit_time_max); };
  TimePoint logged_at{};
  while (!is_draining_) {
    auto begun = admit(deadline());
    if (begun) begun = begin(deadline());
    if (begun) return true;
    const bool is_refused = begun.error().code() == Code::failed_precondition;
    if (is_refused && (logged_at == TimePoint{} || now() - logged_at >= refusal_log_interval)) {
      logged_at = now();
      log_.error("the node stays out of the cluster", {{"reason", begun.error().to_string()}});
    }
    if (!coroutine::sleep_for(options_.retry_interval)) return false;
  }
  return false;
}

Result<void> Cluster::begin(Deadline deadline) {
  if (auto fits = check_fits_others(deadline); !fits) return fits;
  if (auto joined = membership_.join(self_, deadline); !joined) return joined;
  ++statistics_.join_count;
  keeper_ = std::make_unique<PartitionKeeper>(directory_, table_, self_, groups_,
                                              static_cast<detail::Tenants&>(*this), log_,
                                              options_.partitions);
  adopted_change_count_.reset();
  auto read = read_all();
  if (read) read = check_fits_earlier();
  if (!read) {
    keeper_.reset();
    membership_.leave(deadline);
    return read;
  }
  log_.info("joined the cluster", {{"directory", directory_.name()},
                                   {"as", ClusterTable::name_of(self_)},
                                   {"epoch", self_.epoch},
                                   {"members", table_.members().size()},
                                   {"partitions", table_.partition_count()}});
  return {};
}

// Before others see this node: they do not notice one that does not fit.
Result<void> Cluster::check_fits_others(Deadline deadline) {
  if (self_.groups.empty()) return {};
  const auto nodes = directory_.list(ClusterTable::nodes_prefix(), deadline);
  if (!nodes) return nodes.error();
  ClusterTable others;
  others.load(*nodes);
  for (const Member& member : others.members()) {
    if (auto fits = detail::check_fits(self_, member); !fits) return fits;
  }
  return {};
}

// Of two nodes that join at the same time, the one that joined later sees the other here.
Result<void> Cluster::check_fits_earlier() const {
  for (const Member& member : table_.members()) {
    if (member.epoch >= self_.epoch) continue;
    if (auto fits = detail::check_fits(self_, member); !fits) return fits;
  }
  return {};
}

void Cluster::run() {
  for (;;) {
    coroutine::TaskGroup work;
    // Control tasks have reserved stacks, so these always get one.
    static_cast<void>(work.spawn("follow directory", [this] { follow(); }, control));
    static_cast<void>(work.spawn("read directory", [this] { resync(); }, control));
    static_cast<void>(work.spawn("check placement", [this] { check_placement(); }, control));
    static_cast<void>(work.spawn("look up owners", [this] { look_up(); }, control));
    static_cast<void>(work.spawn("claim partitions", [this] { claim_partitions(); }, control));
    static_cast<void>(work.spawn("hand over partitions", [this] { give_partitions(); }, control));
    const Error reason =
        membership_.keep([this](Deadline deadline) { return check_identity(deadline); });
    // The hand-over below may wait for ever, so the fence notes when the wait began.
    if (!coroutine::is_cancelled()) fence_.fall();
    work.cancel_and_join();
    if (coroutine::is_cancelled()) return;
    fence(reason);
    // A draining node has nothing left to hand over, and must not get more.
    if (is_draining_ || !wait_to_rejoin() || !begin_again()) return;
  }
}

void Cluster::fence(const Error& reason) {
  ++statistics_.fence_count;
  fence_.begin_step(Fence::DropStep::objects);
  log_.error("the node is fenced: all of its objects are dropped",
             {{"as", ClusterTable::name_of(self_)}, {"reason", reason.to_string()}});
  for (const PartitionKeeper::Group& group : groups_) {
    for (std::size_t i = 0; i < group.ownership->partition_count(); ++i) {
      group.ownership->set_epoch(static_cast<Partition>(i), 0);
    }
  }
  // Answers that are still in flight must not reach the next incarnation.
  statistics_.claimed_count += keeper_->claimed_count();
  statistics_.given_count += keeper_->given_count();
  keeper_.reset();
  doubts_.clear();
  tenants_.drop_all();
  // The lease may live on in an unreachable directory: revoke it as soon as it can be reached.
  membership_.leave(Deadline::passed());
}

// Fails when it is cancelled.
Result<void> Cluster::wait_to_rejoin() {
  const Duration pause = rejoin_pause_.after_fence();
  if (pause == Duration::zero()) return {};
  log_.warning("the node was fenced again and joins later",
               {{"pause", pause}, {"fences", rejoin_pause_.fence_count()}});
  const DirectoryMark known_at = table_.mark();
  const Deadline end = Deadline::after(pause);
  while (!end.has_passed()) {
    const Duration left = std::min(end.remaining(), options_.rejoin.look_interval);
    if (auto slept = coroutine::sleep_for(left); !slept) return slept;
    if (!read_all()) continue;
    publish();
    // The directory was away for all, so nothing is wrong with this node in particular.
    const auto was_spared = [&](const Member& member) {
      return member.epoch <= known_at.revision && member.epoch != self_.epoch;
    };
    if (table_.mark().id != known_at.id) return {};
    if (std::ranges::none_of(table_.members(), was_spared)) return {};
  }
  return {};
}

Result<void> Cluster::read_all() {
  // A snapshot is not older than the call.
  const Directory::Revision seen_before = known_.revision;
  auto snapshot =
      directory_.list(ClusterTable::prefix, Deadline::after(options_.partitions.commit_time_max));
  if (!snapshot) return snapshot.error();
  ++statistics_.resync_count;
  const bool is_another = ClusterTable::id_in(*snapshot) != table_.mark().id;
  const bool is_set_back = snapshot->revision < seen_before;
  if (is_another && !directory_.is_shared()) {
    table_.load(*snapshot);
  } else if (is_another || is_set_back) {
    table_.note_replaced();
  } else {
    table_.merge(*snapshot);
  }
  checked_to_ = snapshot->revision;
  changed();
  return {};
}

// Reads what has changed since the last time, which the watch should have told. All of it is read
// when something is missing in spite of that.
Result<void> Cluster::read_recent() {
  const Deadline deadline = Deadline::after(options_.partitions.commit_time_max);
  const Directory::Revision seen_before = known_.revision;
  const auto recent = directory_.list_since(ClusterTable::prefix, checked_to_, deadline);
  if (!recent) return recent.error();
  // Another directory may have answered.
  auto same = check_identity(deadline);
  if (!same && same.error().code() != Code::failed_precondition) return same;
  if (!same || recent->revision < seen_before) {
    table_.note_replaced();
    note_table();
    return Error(Code::failed_precondition, "the directory was replaced or set back");
  }
  ++statistics_.resync_count;
  checked_to_ = recent->revision;
  const bool is_newer = table_.revision() > recent->revision;
  if (!table_.merge(*recent)) return read_all();
  changed();
  // A removal may be missing: then the next look finds it.
  if (is_newer) look_again_.set();
  return {};
}

// Fails with failed_precondition when another directory answers, or an earlier state of this one.
Result<void> Cluster::check_identity(Deadline deadline) {
  const std::string key = ClusterTable::id_key();
  const Directory::Revision seen_before = known_.revision;
  const auto entry = directory_.read({&key, 1}, deadline);
  if (!entry) return entry.error();
  if (ClusterTable::id_in(*entry) == table_.mark().id && entry->revision >= seen_before) return {};
  return Error(Code::failed_precondition, "the directory was replaced or set back");
}

// The lease proves nothing: another directory may even know one of that number.
void Cluster::was_replaced() {
  if (keeper_ == nullptr || !directory_.is_shared()) return;
  log_.error("the directory was replaced or set back while the node was in the cluster",
             {{"seen", table_.revision()}});
  membership_.lose();
}

void Cluster::changed() {
  if (keeper_ == nullptr) return;
  note_table();
  if (adopted_change_count_ == table_.change_count()) return;
  adopted_change_count_ = table_.change_count();
  keeper_->adopt();
  settled_.reset();
  claims_due_.set();
  gifts_due_.set();
}

void Cluster::note_table() {
  if (table_.is_replaced()) was_replaced();
  // Our entry was removed, so other nodes may own our partitions by now.
  if (table_.revision() >= self_.epoch && table_.find(ClusterTable::name_of(self_)) == nullptr) {
    membership_.lose();
  }
  if (known_.id != table_.mark().id || known_.revision < table_.revision()) {
    known_ = table_.mark();
    is_known_noted_ = false;
  }
}

Result<void> Cluster::pin(const Placement& placement, Partition partition,
                          const std::optional<Pin>& pin, Deadline deadline) {
  const std::string self = ClusterTable::name_of(self_);
  const std::string key = ClusterTable::pin_key(placement, partition);
  Directory::Transaction transaction;
  transaction.conditions.push_back({.key = ClusterTable::node_key(self),
                                    .field = Directory::Condition::Field::created_at,
                                    .revision = self_.epoch});
  if (pin) {
    transaction.puts.push_back({.key = key, .value = ClusterTable::to_value(*pin)});
  } else {
    transaction.removals.push_back(key);
  }
  const auto outcome = directory_.commit(transaction, deadline);
  if (!outcome) return outcome.error();
  if (!outcome->is_done) return Error(Code::failed_precondition, "the node is not in the cluster");
  table_.apply({.entry = {.key = key,
                          .value = pin ? ClusterTable::to_value(*pin) : std::string(),
                          .created_at = 0,
                          .modified_at = outcome->revision},
                .is_removed = !pin});
  changed();
  return {};
}

void Cluster::lose() {
  if (keeper_ == nullptr || fence_.has_lease()) return;
  log_.error("another node owns what this one served without the directory");
  membership_.lose();
}

// Another node may have joined another directory, which operators have accepted.
void Cluster::check_directory() {
  auto admitted =
      tenants_.admit(table_.mark(), Deadline::after(options_.partitions.commit_time_max));
  // The next snapshot must not be older than what another node has seen.
  if (admitted && admitted->revision > known_.revision) known_ = *admitted;
  if (admitted || admitted.error().code() != Code::failed_precondition) return;
  log_.error("the node leaves the cluster", {{"reason", admitted.error().to_string()}});
  membership_.lose();
}

void Cluster::publish() {
  if (table_.change_count() == viewed_change_count_) return;
  viewed_change_count_ = table_.change_count();
  view_ = table_.view(epoch());
  tenants_.view_changed(view_);
}

// Waiting calls are redirected to the new owner, so the view must be published first.
void Cluster::resume(const Placement& placement, std::span<const Partition> partitions) {
  publish();
  tenants_.resume(placement, partitions);
  // A claim may have passed these partitions over while they were on their way.
  claims_due_.set();
}

void Cluster::follow() {
  for (;;) {
    auto watched = directory_.watch(ClusterTable::prefix, table_.next_to_watch(),
                                    [this](const Directory::Change& change) {
                                      table_.follow(change);
                                      changed();
                                    });
    if (coroutine::is_cancelled()) return;
    // Also when it has forgotten those changes: the next watch begins after this look.
    look_again_.set();
    if (!coroutine::sleep_for(options_.retry_interval)) return;
  }
}

void Cluster::resync() {
  for (;;) {
    const auto asked = look_again_.wait(Deadline::after(options_.resync_interval));
    if (!asked && asked.error().code() == Code::cancelled) return;
    look_again_.reset();
    if (!asked) check_directory();
    if (!read_recent()) look_again_.set();
    if (!coroutine::sleep_for(options_.retry_interval)) return;
  }
}

void Cluster::check_placement() {
  while (coroutine::sleep_for(options_.placement_check_interval)) {
    const Deadline deadline = Deadline::after(options_.partitions.commit_time_max);
    const auto nodes = directory_.list_since(ClusterTable::nodes_prefix(), checked_to_, deadline);
    if (nodes && !table_.has_nodes(*nodes)) look_again_.set();
    const auto drains =
        directory_.list_since(ClusterTable::all_draining_prefix(), checked_to_, deadline);
    if (drains && !table_.has_draining(*drains)) look_again_.set();
    const auto pins = directory_.list_since(ClusterTable::all_pins_prefix(), checked_to_, deadline);
    if (pins && !table_.has_pins(*pins)) look_again_.set();
  }
}

void Cluster::doubt(const Placement& placement, Partition partition) {
  doubts_.raise({placement, partition}, known_of({placement, partition}));
  doubted_.set();
}

detail::Doubts::Known Cluster::known_of(const detail::Doubts::Place& place) const {
  const auto& ownership = table_.ownerships(place.first)[place.second];
  const Member* const owner = table_.find(ownership.owner);
  return {.revision = ownership.revision,
          .is_there = owner != nullptr && owner->epoch == ownership.node_epoch};
}

void Cluster::look_up() {
  for (;;) {
    doubted_.reset();
    const auto due = doubts_.take_due(detail::look_up_count_max);
    if (due.empty()) {
      const auto waited = doubted_.wait(Deadline::at(doubts_.next_due()));
      if (!waited && waited.error().code() == Code::cancelled) return;
      continue;
    }
    std::vector<Partition> partitions;
    for (const auto& [placement, partition] : due) partitions.push_back(partition);
    ++statistics_.look_up_count;
    const std::string self = ClusterTable::name_of(self_);
    const auto known =
        detail::look_up_owners(directory_, table_, due.front().first, partitions, {&self, 1},
                               Deadline::after(options_.partitions.commit_time_max));
    if (coroutine::is_cancelled()) return;
    if (known) {
      changed();
    } else {
      note_table();
    }
    for (const auto& place : due) doubts_.settle(place, known_of(place));
    if (!coroutine::sleep_for(options_.look_up_interval_min)) return;
  }
}

void Cluster::claim_partitions() {
  while (claims_due_.wait(Deadline::never())) {
    claims_due_.reset();
    publish();
    const bool is_all_claimed = keeper_->claim_due();
    note_table();
    publish();  // Calls that wait for what is ours now need not wait for the watch.
    if (is_all_claimed) {
      if (!claims_due_.is_set()) settled_.set();
      continue;
    }
    claims_due_.set();
    if (!coroutine::sleep_for(options_.partitions.hand_over_interval)) return;
  }
}

// Has a task of its own: the release of a partition waits for its calls and hooks, which must not
// keep this node from claiming the partitions of a node that is gone.
void Cluster::give_partitions() {
  while (gifts_due_.wait(Deadline::never())) {
    gifts_due_.reset();
    const auto progress = keeper_->give_due();
    note_table();
    if (progress == PartitionKeeper::Progress::all_done) continue;
    gifts_due_.set();
    const bool is_in_a_hurry = is_draining_ && progress == PartitionKeeper::Progress::more_to_do;
    const Duration pause =
        is_in_a_hurry ? Duration::zero() : options_.partitions.hand_over_interval;
    if (!coroutine::sleep_for(pause)) return;
  }
}

Result<void> Cluster::wait_until_settled(Deadline deadline) { return settled_.wait(deadline); }

Result<void> Cluster::drain(Deadline deadline,
                            const std::function<void(std::size_t left)>& on_progress) {
  is_draining_ = true;
  // A fenced node owns nothing, and has no lease for the announcement.
  if (keeper_ == nullptr) return {};
  if (auto announced = membership_.announce_draining(self_, deadline); !announced) return announced;
  if (auto read = read_recent(); !read) return read;
  const auto left_to_give = [this] {
    return keeper_ == nullptr ? std::size_t{0} : keeper_->to_give_count();
  };
  for (std::size_t left = left_to_give(); left > 0; left = left_to_give()) {
    on_progress(left);
    if (deadline.has_passed()) {
      return Error(Code::deadline_exceeded,
                   std::to_string(left) + " partitions were not handed over in time");
    }
    if (auto slept = coroutine::sleep_for(std::chrono::milliseconds(20)); !slept) return slept;
  }
  return {};
}

void Cluster::stop(Deadline deadline) {
  tasks_.cancel_and_join();
  membership_.leave(deadline);
}

Cluster::Statistics Cluster::statistics() const {
  Statistics statistics = statistics_;
  if (keeper_ != nullptr) {
    statistics.claimed_count += keeper_->claimed_count();
    statistics.given_count += keeper_->given_count();
    statistics.owned_count = keeper_->owned_count();
  }
  return statistics;
}

}  // namespace corolane::framework
