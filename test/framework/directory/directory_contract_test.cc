// SPDX-License-Identifier: MIT
// The contract of every directory, whatever its implementation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/programs.h"
#include "framework/directory/directory.h"
#include "framework/directory/etcd_directory.h"
#include "framework/directory/local_directory.h"
#include "framework/testing/directory_server.h"
#include "framework/testing/fabric.h"
#include "framework/testing/host.h"
#include "framework/testing/simulation.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/directory/directory_world.h"
#include "test/framework/directory/watcher.h"
#include "tools/processes/etcd_server.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::DirectoryWorld;
using test::fails_with;
using test::put;
using test::soon;
using test::Watcher;
using test::WorldKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Condition = Directory::Condition;
using Field = Condition::Field;
using Revision = Directory::Revision;
using Transaction = Directory::Transaction;

class LocalWorld final : public DirectoryWorld {
 public:
  void run(const std::function<void(Directory&)>& body) override {
    LocalDirectory directory(/*first_revision=*/100);
    body(directory);
  }
};

// One etcd for all tests, with another prefix for each.
class EtcdWorld final : public DirectoryWorld {
 public:
  std::string obstacle() const override { return test::EtcdServer::obstacle(); }

  void run(const std::function<void(Directory&)>& body) override {
    static int count = 0;
    const std::string key_prefix = "/contract " + std::to_string(++count) + "/";
    test::EtcdServer& etcd = test::shared_etcd();
    test::run_on_real_loop([&](test::RealLoop& real) {
      EtcdDirectory directory(real.network, {.endpoints = {etcd.host()}, .key_prefix = key_prefix});
      body(directory);
    });
  }
};

// The directory of simulated clusters, over their network.
class SimulatedWorld final : public DirectoryWorld {
 public:
  void run(const std::function<void(Directory&)>& body) override {
    sim::Simulation simulation({.seed = 1});
    sim::Fabric fabric(simulation);
    sim::DirectoryServer server(simulation, fabric);
    sim::Host& node = simulation.add_host("node");
    node.start([&] { body(*server.directory_of(node)); });
    EXPECT_TRUE(simulation.run_until([&] { return !node.is_alive(); }, simulation.now() + 1h));
  }
};

class DirectoryContractTest : public testing::TestWithParam<WorldKind> {
 protected:
  void SetUp() override {
    world_ = GetParam().make();
    COROLANE_NEEDS(world_->obstacle());
  }

  void run(const std::function<void(Directory&)>& body) { world_->run(body); }

  std::unique_ptr<DirectoryWorld> world_;
};

INSTANTIATE_TEST_SUITE_P(
    All, DirectoryContractTest,
    testing::Values(WorldKind{"Local", [] { return std::make_unique<LocalWorld>(); }},
                    WorldKind{"Simulated", [] { return std::make_unique<SimulatedWorld>(); }},
                    WorldKind{"Etcd", [] { return std::make_unique<EtcdWorld>(); }}),
    [](const auto& tested) { return tested.param.name; });

// The revision of the change; 0 when it was not made.
Revision commit(Directory& directory, const Transaction& transaction) {
  const auto outcome = directory.commit(transaction, soon());
  EXPECT_TRUE(outcome) << outcome;
  return outcome && outcome->is_done ? outcome->revision : 0;
}

Revision remove(Directory& directory, std::string key) {
  return commit(directory, {.removals = {std::move(key)}});
}

Directory::Lease grant(Directory& directory, std::chrono::seconds time_to_live = 60s) {
  const auto lease = directory.grant(time_to_live, soon());
  EXPECT_TRUE(lease) << lease;
  return lease.value_or(0);
}

Directory::Snapshot list(Directory& directory, std::string_view prefix = "") {
  auto snapshot = directory.list(prefix, soon());
  EXPECT_TRUE(snapshot) << snapshot;
  return snapshot ? *std::move(snapshot) : Directory::Snapshot{};
}

// "key=value" for each entry.
std::vector<std::string> texts(Directory& directory, std::string_view prefix = "") {
  std::vector<std::string> all;
  for (const auto& entry : list(directory, prefix).entries) {
    all.push_back(entry.key + "=" + entry.value);
  }
  return all;
}

std::string at(Revision revision) { return " @" + std::to_string(revision); }

TEST_P(DirectoryContractTest, BeginsEmpty) {
  run([](Directory& directory) {
    EXPECT_THAT(texts(directory), IsEmpty());
    EXPECT_FALSE(directory.name().empty());
  });
}

TEST_P(DirectoryContractTest, AnEntryKnowsWhenItWasCreatedAndChanged) {
  run([](Directory& directory) {
    const Revision before = list(directory).revision;
    const Revision created = put(directory, "key", "a");
    EXPECT_GT(created, before);
    const Revision changed = put(directory, "key", "b");
    EXPECT_GT(changed, created);
    auto snapshot = list(directory);
    ASSERT_THAT(snapshot.entries, SizeIs(1));
    EXPECT_EQ(snapshot.entries[0].key, "key");
    EXPECT_EQ(snapshot.entries[0].value, "b");
    EXPECT_EQ(snapshot.entries[0].created_at, created);
    EXPECT_EQ(snapshot.entries[0].modified_at, changed);
    EXPECT_EQ(snapshot.revision, changed);

    const Revision removed = remove(directory, "key");
    EXPECT_GT(removed, changed);
    const Revision created_again = put(directory, "key", "c");
    snapshot = list(directory);
    ASSERT_THAT(snapshot.entries, SizeIs(1));
    EXPECT_EQ(snapshot.entries[0].created_at, created_again);
    EXPECT_EQ(snapshot.entries[0].modified_at, created_again);
  });
}

TEST_P(DirectoryContractTest, KeysAndValuesMayBeAnyText) {
  run([](Directory& directory) {
    const std::string strange = "a \"quoted\" \\ line\n\tof Grüße \x01";
    put(directory, strange, strange);
    put(directory, "empty", "");
    put(directory, "long", std::string(100'000, 'x'));
    EXPECT_THAT(texts(directory), ElementsAre(strange + "=" + strange,
                                              "empty=", "long=" + std::string(100'000, 'x')));
  });
}

TEST_P(DirectoryContractTest, ListsThePrefixInTheOrderOfKeys) {
  run([](Directory& directory) {
    for (const char* key : {"b/2", "b/1", "b/10", "b", "a", "c", "b0", "b\xff", "B/1"}) {
      put(directory, key);
    }
    EXPECT_THAT(texts(directory, "b/"), ElementsAre("b/1=", "b/10=", "b/2="));
    EXPECT_THAT(texts(directory, "b/1"), ElementsAre("b/1=", "b/10="));
    EXPECT_THAT(texts(directory, "b"), ElementsAre("b=", "b/1=", "b/10=", "b/2=", "b0=", "b\xff="));
    EXPECT_THAT(texts(directory, "b\xff"), ElementsAre("b\xff="));
    EXPECT_THAT(texts(directory, "d"), IsEmpty());
    EXPECT_THAT(texts(directory), SizeIs(9));
  });
}

TEST_P(DirectoryContractTest, ListsWhatHasChangedSinceARevisionAndCountsTheRest) {
  run([](Directory& directory) {
    for (const char* key : {"a/1", "a/2", "a/3", "b/1"}) put(directory, key, "old");
    const Revision revision = list(directory).revision;
    auto recent = directory.list_since("a/", revision, soon());
    ASSERT_TRUE(recent) << recent;
    EXPECT_THAT(recent->entries, IsEmpty());
    EXPECT_EQ(recent->entry_count, 3U);
    EXPECT_EQ(recent->revision, revision);

    const Revision changed = put(directory, "a/2", "new");
    put(directory, "a/0", "new");
    remove(directory, "a/3");
    put(directory, "b/1", "new");
    recent = directory.list_since("a/", revision, soon());
    ASSERT_TRUE(recent) << recent;
    ASSERT_THAT(recent->entries, SizeIs(2));
    EXPECT_EQ(recent->entries[0].key, "a/0");
    EXPECT_EQ(recent->entries[1].key, "a/2");
    EXPECT_EQ(recent->entries[1].value, "new");
    EXPECT_EQ(recent->entries[1].modified_at, changed);
    EXPECT_EQ(recent->entry_count, 3U);
    EXPECT_EQ(recent->revision, changed + 3);

    recent = directory.list_since("a/", changed, soon());
    ASSERT_TRUE(recent) << recent;
    EXPECT_THAT(recent->entries, SizeIs(1)) << "not those of that revision";
    EXPECT_THAT(directory.list_since("c/", 0, soon())->entries, IsEmpty());
  });
}

TEST_P(DirectoryContractTest, ReadsThoseKeysAloneAtOneRevision) {
  run([](Directory& directory) {
    const Revision created = put(directory, "key/1", "a");
    put(directory, "key/10", "b");
    put(directory, "key/2", "");
    const Revision changed = put(directory, "key/1", "c");
    const std::vector<std::string> keys = {"key/2", "key/1", "key/3", "key/1"};
    const auto some = directory.read(keys, soon());
    ASSERT_TRUE(some) << some;
    EXPECT_EQ(some->revision, changed);
    ASSERT_THAT(some->entries, SizeIs(2));
    EXPECT_EQ(some->entries[0].key, "key/1");
    EXPECT_EQ(some->entries[0].value, "c");
    EXPECT_EQ(some->entries[0].created_at, created);
    EXPECT_EQ(some->entries[0].modified_at, changed);
    EXPECT_EQ(some->entries[1].key, "key/2");
    const auto nothing = directory.read({}, soon());
    ASSERT_TRUE(nothing) << nothing;
    EXPECT_THAT(nothing->entries, IsEmpty());
    EXPECT_EQ(nothing->revision, changed);
  });
}

TEST_P(DirectoryContractTest, TheKeysOfAReadAreBounded) {
  run([](Directory& directory) {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < Directory::transaction_size_max; ++i) {
      keys.push_back(std::to_string(1000 + i));
    }
    put(directory, keys.back());
    const auto largest = directory.read(keys, soon());
    ASSERT_TRUE(largest) << largest;
    EXPECT_THAT(largest->entries, SizeIs(1));
    keys.emplace_back("one more");
    EXPECT_THAT(directory.read(keys, soon()), fails_with(Code::invalid_argument));
  });
}

TEST_P(DirectoryContractTest, ATransactionHasOneRevision) {
  run([](Directory& directory) {
    put(directory, "old", "1");
    const Revision revision =
        commit(directory, {.puts = {{.key = "a", .value = "1"}, {.key = "b", .value = "2"}},
                           .removals = {"old", "never there"}});
    const auto snapshot = list(directory);
    ASSERT_THAT(snapshot.entries, SizeIs(2));
    EXPECT_EQ(snapshot.revision, revision);
    EXPECT_EQ(snapshot.entries[0].modified_at, revision);
    EXPECT_EQ(snapshot.entries[1].created_at, revision);
  });
}

TEST_P(DirectoryContractTest, AnEmptyChangeHasTheRevisionOfTheTable) {
  run([](Directory& directory) {
    const Revision revision = put(directory, "a");
    EXPECT_EQ(commit(directory, {}), revision);
    EXPECT_EQ(remove(directory, "never there"), revision);
    EXPECT_EQ(list(directory).revision, revision);
  });
}

TEST_P(DirectoryContractTest, ConditionsCompareTheNumbersOfAnEntry) {
  run([](Directory& directory) {
    const Revision created = put(directory, "there", "1");
    const Revision modified = put(directory, "there", "2");
    struct Case {
      Condition condition;
      bool holds;
    };
    const std::vector<Case> cases = {
        {{.key = "there", .field = Field::created_at, .revision = created}, true},
        {{.key = "there", .field = Field::created_at, .revision = modified}, false},
        {{.key = "there", .field = Field::created_at, .revision = 0}, false},
        {{.key = "there", .field = Field::modified_at, .revision = modified}, true},
        {{.key = "there", .field = Field::modified_at, .revision = created}, false},
        {{.key = "there", .is_equal = false, .revision = created}, true},
        {{.key = "there", .is_equal = false, .revision = modified}, false},
        {{.key = "there", .is_equal = false, .revision = 0}, true},
        {{.key = "gone", .field = Field::created_at, .revision = 0}, true},
        {{.key = "gone", .field = Field::modified_at, .revision = 0}, true},
        {{.key = "gone", .field = Field::created_at, .is_equal = false, .revision = created}, true},
        {{.key = "gone", .field = Field::created_at, .revision = created}, false},
        {{.key = "gone", .is_equal = false, .revision = 0}, false},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto outcome = directory.commit({.conditions = {cases[i].condition}}, soon());
      ASSERT_TRUE(outcome) << outcome;
      EXPECT_EQ(outcome->is_done, cases[i].holds) << i;
      EXPECT_EQ(outcome->revision, modified) << i;
    }
  });
}

TEST_P(DirectoryContractTest, AllConditionsHoldOrNothingIsChanged) {
  run([](Directory& directory) {
    const Revision revision = put(directory, "a", "1");
    const Condition right{.key = "a", .revision = revision};
    const Condition wrong{.key = "b", .is_equal = false, .revision = 0};
    const auto refused = directory.commit(
        {.conditions = {right, wrong}, .puts = {{.key = "c"}}, .removals = {"a"}}, soon());
    ASSERT_TRUE(refused) << refused;
    EXPECT_FALSE(refused->is_done);
    EXPECT_EQ(refused->revision, revision);
    EXPECT_THAT(texts(directory), ElementsAre("a=1"));
    EXPECT_GT(commit(directory,
                     {.conditions = {right, {.key = "b"}}, .puts = {{.key = "a", .value = "2"}}}),
              revision);
    EXPECT_THAT(texts(directory), ElementsAre("a=2"));
  });
}

TEST_P(DirectoryContractTest, TheSizeOfATransactionIsBounded) {
  run([](Directory& directory) {
    Transaction largest;
    for (std::size_t i = 0; i < Directory::transaction_size_max; ++i) {
      const std::string key = std::to_string(1000 + i);
      largest.conditions.push_back({.key = key});
      largest.puts.push_back({.key = key, .value = key});
    }
    EXPECT_NE(commit(directory, largest), 0u);
    EXPECT_THAT(texts(directory), SizeIs(Directory::transaction_size_max));

    Transaction too_large = {.puts = largest.puts, .removals = {"x"}};
    EXPECT_THAT(directory.commit(too_large, soon()), fails_with(Code::invalid_argument));
    too_large = {.conditions = largest.conditions};
    too_large.conditions.push_back({.key = "x"});
    EXPECT_THAT(directory.commit(too_large, soon()), fails_with(Code::invalid_argument));
  });
}

TEST_P(DirectoryContractTest, ATransactionChangesAKeyOnce) {
  run([](Directory& directory) {
    EXPECT_THAT(directory.commit({.puts = {{.key = "a"}, {.key = "a"}}}, soon()),
                fails_with(Code::invalid_argument));
    EXPECT_THAT(directory.commit({.puts = {{.key = "a"}}, .removals = {"a"}}, soon()),
                fails_with(Code::invalid_argument));
    EXPECT_THAT(texts(directory), IsEmpty());
  });
}

TEST_P(DirectoryContractTest, LeasesHaveDistinctIds) {
  run([](Directory& directory) {
    std::set<Directory::Lease> leases;
    for (int i = 0; i < 10; ++i) leases.insert(grant(directory));
    EXPECT_THAT(leases, SizeIs(10));
    EXPECT_FALSE(leases.contains(0));
    for (const auto lease : leases) EXPECT_TRUE(directory.revoke(lease, soon()));
  });
}

TEST_P(DirectoryContractTest, ARevokedLeaseRemovesItsEntriesAtOneRevision) {
  run([](Directory& directory) {
    const auto lease = grant(directory);
    const auto other = grant(directory);
    put(directory, "a", "1", lease);
    put(directory, "b", "2", lease);
    put(directory, "c", "3", other);
    put(directory, "d", "4");
    EXPECT_TRUE(directory.keep_alive(lease, soon()));
    const Revision before = list(directory).revision;
    EXPECT_TRUE(directory.revoke(lease, soon()));
    EXPECT_THAT(texts(directory), ElementsAre("c=3", "d=4"));
    EXPECT_EQ(list(directory).revision, before + 1);

    EXPECT_THAT(directory.keep_alive(lease, soon()), fails_with(Code::not_found));
    EXPECT_TRUE(directory.revoke(lease, soon()));
    EXPECT_TRUE(directory.keep_alive(other, soon()));
    EXPECT_TRUE(directory.revoke(other, soon()));
  });
}

TEST_P(DirectoryContractTest, AnUnknownLeaseHasExpired) {
  run([](Directory& directory) {
    EXPECT_THAT(directory.keep_alive(4711, soon()), fails_with(Code::not_found));
    EXPECT_TRUE(directory.revoke(4711, soon()));
    const Transaction hanging = {.puts = {{.key = "a"}, {.key = "b", .lease = 4711}}};
    EXPECT_THAT(directory.commit(hanging, soon()), fails_with(Code::not_found));
    EXPECT_THAT(texts(directory), IsEmpty());
    // A lease that is not needed is not checked.
    Transaction refused = hanging;
    refused.conditions = {{.key = "a", .is_equal = false}};
    const auto outcome = directory.commit(refused, soon());
    ASSERT_TRUE(outcome) << outcome;
    EXPECT_FALSE(outcome->is_done);
  });
}

TEST_P(DirectoryContractTest, TheLatestPutSetsTheLeaseOfAnEntry) {
  run([](Directory& directory) {
    const auto first = grant(directory);
    const auto second = grant(directory);
    for (const char* key : {"freed", "moved", "kept", "taken"}) put(directory, key, "1", first);
    put(directory, "freed", "2");
    put(directory, "moved", "2", second);
    put(directory, "kept", "2", first);
    remove(directory, "taken");
    put(directory, "taken", "2");
    EXPECT_TRUE(directory.revoke(first, soon()));
    EXPECT_THAT(texts(directory), ElementsAre("freed=2", "moved=2", "taken=2"));
    EXPECT_TRUE(directory.revoke(second, soon()));
    EXPECT_THAT(texts(directory), ElementsAre("freed=2", "taken=2"));
  });
}

TEST_P(DirectoryContractTest, ALeaseExpiresUnlessItIsKeptAlive) {
  run([](Directory& directory) {
    const auto kept = grant(directory, 2s);
    const auto forgotten = grant(directory, 2s);
    const Revision revision = put(directory, "kept", "1", kept);
    put(directory, "forgotten", "1", forgotten);
    auto keeper = coroutine::spawn("keeper", [&]() -> Result<void> {
      for (;;) {
        if (auto slept = coroutine::sleep_for(300ms); !slept) return slept;
        if (auto alive = directory.keep_alive(kept, soon()); !alive) return alive;
      }
    });
    Watcher watcher(directory, "", revision + 2);
    ASSERT_THAT(watcher.wait_for(1), SizeIs(1));
    EXPECT_EQ(watcher.changes[0].entry.key, "forgotten");
    EXPECT_TRUE(watcher.changes[0].is_removed);
    EXPECT_THAT(texts(directory), ElementsAre("kept=1"));
    EXPECT_THAT(directory.keep_alive(forgotten, soon()), fails_with(Code::not_found));
    keeper.cancel();
    EXPECT_THAT(keeper.join(soon()), fails_with(Code::cancelled));
    EXPECT_TRUE(directory.revoke(kept, soon()));
  });
}

TEST_P(DirectoryContractTest, AWatchSeesChangesInOrder) {
  run([](Directory& directory) {
    Watcher watcher(directory, "w/", list(directory).revision + 1);
    const Revision first = put(directory, "w/a", "1");
    put(directory, "x/a", "other");
    const Revision second = put(directory, "w/a", "2");
    put(directory, "w", "other");
    const Revision third = commit(directory, {.puts = {{.key = "w/c"}, {.key = "w/b"}},
                                              .removals = {"w/a", "w/never there"}});
    EXPECT_THAT(watcher.wait_for(5),
                ElementsAre("w/a=1" + at(first), "w/a=2" + at(second), "w/c=" + at(third),
                            "w/b=" + at(third), "w/a gone" + at(third)));
    EXPECT_EQ(watcher.changes[1].entry.created_at, first);
    EXPECT_TRUE(watcher.changes[4].is_removed);
  });
}

TEST_P(DirectoryContractTest, AWatchBeginsAtTheGivenRevision) {
  run([](Directory& directory) {
    const Revision first = put(directory, "a", "1");
    const Revision second = put(directory, "a", "2");
    Watcher early(directory, "", first);
    Watcher late(directory, "", second);
    Watcher next(directory, "", second + 1);
    Watcher future(directory, "", second + 2);
    EXPECT_THAT(early.wait_for(2), ElementsAre("a=1" + at(first), "a=2" + at(second)));
    EXPECT_THAT(late.wait_for(1), ElementsAre("a=2" + at(second)));
    const Revision third = put(directory, "a", "3");
    const Revision fourth = remove(directory, "a");
    EXPECT_THAT(next.wait_for(2), ElementsAre("a=3" + at(third), "a gone" + at(fourth)));
    // Another test may change the same table: `future` then starts at an earlier change.
    EXPECT_THAT(future.wait_for(1).back(), "a gone" + at(fourth));
    EXPECT_THAT(early.wait_for(4), SizeIs(4));
    EXPECT_THAT(late.wait_for(3), SizeIs(3));
  });
}

TEST_P(DirectoryContractTest, AWatchSeesALeaseExpire) {
  run([](Directory& directory) {
    const auto lease = grant(directory);
    const Revision revision = put(directory, "a", "1", lease);
    Watcher watcher(directory, "", revision);
    EXPECT_TRUE(directory.revoke(lease, soon()));
    EXPECT_THAT(watcher.wait_for(2),
                ElementsAre("a=1" + at(revision), "a gone" + at(revision + 1)));
  });
}

TEST_P(DirectoryContractTest, AWatchEndsWhenItIsCancelled) {
  run([](Directory& directory) {
    Watcher cancelled(directory, "", list(directory).revision + 1);
    Watcher other(directory, "", list(directory).revision + 1);
    put(directory, "a");
    cancelled.wait_for(1);
    cancelled.cancel();
    EXPECT_THAT(cancelled.join(), fails_with(Code::cancelled));
    Watcher stillborn(directory, "", list(directory).revision + 1);
    stillborn.cancel();
    EXPECT_THAT(stillborn.join(), fails_with(Code::cancelled));
    put(directory, "b");
    EXPECT_THAT(other.wait_for(2), SizeIs(2));
    EXPECT_THAT(cancelled.texts, SizeIs(1));
  });
}

TEST_P(DirectoryContractTest, OneOfManyRivalsCreatesAnEntry) {
  run([](Directory& directory) {
    coroutine::TaskGroup group;
    int done_count = 0;
    for (int i = 0; i < 20; ++i) {
      const auto claim = [&, i]() -> Result<void> {
        auto outcome =
            directory.commit({.conditions = {{.key = "claim", .field = Field::created_at}},
                              .puts = {{.key = "claim", .value = std::to_string(i)}}},
                             soon());
        if (!outcome) return outcome.error();
        if (outcome->is_done) ++done_count;
        return {};
      };
      ASSERT_TRUE(group.spawn("claim", claim));
    }
    EXPECT_TRUE(group.join(soon()));
    EXPECT_EQ(done_count, 1);
    EXPECT_THAT(texts(directory), SizeIs(1));
  });
}

TEST_P(DirectoryContractTest, ConcurrentCommitsLoseNoUpdate) {
  run([](Directory& directory) {
    constexpr int task_count = 8;
    constexpr int round_count = 5;
    const Revision first = put(directory, "count", "0");
    Watcher watcher(directory, "count", first + 1);
    // Adds one, retrying when another task was faster.
    const auto add = [&]() -> Result<void> {
      for (;;) {
        const auto seen = directory.list("count", soon());
        if (!seen) return seen.error();
        const auto& entry = seen->entries.at(0);
        const auto outcome = directory.commit(
            {.conditions = {{.key = "count", .revision = entry.modified_at}},
             .puts = {{.key = "count", .value = std::to_string(std::stoi(entry.value) + 1)}}},
            soon());
        if (!outcome) return outcome.error();
        if (outcome->is_done) return {};
      }
    };
    coroutine::TaskGroup group;
    for (int i = 0; i < task_count; ++i) {
      const auto work = [&]() -> Result<void> {
        for (int round = 0; round < round_count; ++round) {
          if (auto added = add(); !added) return added;
        }
        return {};
      };
      ASSERT_TRUE(group.spawn("adder", work));
    }
    EXPECT_TRUE(group.join(soon()));
    EXPECT_THAT(texts(directory, "count"), ElementsAre("count=40"));
    watcher.wait_for(task_count * round_count);
    ASSERT_THAT(watcher.changes, SizeIs(task_count * round_count));
    for (int i = 0; i < task_count * round_count; ++i) {
      EXPECT_EQ(watcher.changes[static_cast<std::size_t>(i)].entry.value, std::to_string(i + 1));
    }
  });
}

}  // namespace
}  // namespace corolane::framework
