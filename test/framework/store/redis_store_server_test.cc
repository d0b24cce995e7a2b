// SPDX-License-Identifier: MIT
// A RedisStore with a real server that dies, is full, demands a password, or cannot be heard.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/programs.h"
#include "framework/store/detail/redis_client.h"
#include "framework/store/redis_store.h"
#include "net/testing/chaos_proxy.h"
#include "test/fixtures/real_loop.h"
#include "tools/processes/redis_server.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::ChaosDirection;
using test::ChaosFault;
using test::ChaosProxy;
using test::fails_with;
using test::RealLoop;
using test::RedisServer;
using test::soon;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr ObjectKey alice = {.type = "chess.Player", .id = "alice"};

StoredObject load(Store& store, const ObjectKey& key, std::uint64_t epoch) {
  auto sealed = store.seal(key, epoch, soon());
  EXPECT_TRUE(sealed) << sealed;
  return sealed ? *std::move(sealed) : StoredObject{};
}

class RedisServerTest : public testing::Test {
 protected:
  void SetUp() override { COROLANE_NEEDS(RedisServer::missing()); }

  RedisServer& start(std::vector<std::string> arguments = {}) {
    return server_.emplace(std::move(arguments));
  }
  // Tolerates a server that starts slowly on a busy machine.
  RedisStore::Options options() const {
    return {.endpoints = {server_->endpoint()}, .unreachable_after = 20s};
  }

  // The reply of the server to a command, and the texts of a list reply.
  static detail::RedisReply ask(detail::RedisClient& client, std::vector<std::string_view> words) {
    auto reply = client.call(words, soon());
    EXPECT_TRUE(reply) << reply.error();
    return reply ? *std::move(reply) : detail::RedisReply{};
  }
  static std::vector<std::string> texts(detail::RedisClient& client,
                                        std::vector<std::string_view> words) {
    std::vector<std::string> texts;
    for (const auto& item : ask(client, std::move(words)).items) texts.push_back(item.text);
    return texts;
  }

  std::optional<RedisServer> server_;
};

// --- A server that dies -----------------------------------------------------------------------

TEST_F(RedisServerTest, ACallToAKilledServerFailsAndSucceedsWhenItIsBack) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    RedisStore store(real.network, options());
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    ASSERT_TRUE(store.write(alice, 1, 0, {.bytes = "acknowledged"}, soon()));
    server_->kill();
    EXPECT_FALSE(store.write(alice, 1, 1, {.bytes = "lost"}, Deadline::after(20ms)));
    server_->start();
    EXPECT_EQ(load(store, alice, 1), (StoredObject{.version = 1, .bytes = "acknowledged"}));
    EXPECT_TRUE(store.write(alice, 1, 1, {.bytes = "after"}, soon()));
  });
}

// The writes of a task that writes one object.
struct Written {
  std::uint64_t acknowledged = 0;  // The version of the last write that has succeeded.
  std::uint64_t asked_for = 0;     // The version of the last write that was tried.
};

TEST_F(RedisServerTest, AKillLosesNoAcknowledgedWrite) {
  start();
  constexpr int task_count = 20;
  test::run_on_real_loop([&](RealLoop& real) {
    RedisStore store(real.network, options());
    std::vector<Written> written(task_count);
    std::uint64_t acknowledged_count = 0;
    bool is_killed = false;  // A writer would wait for the next server.
    coroutine::Event many("a hundred writes");
    coroutine::TaskGroup tasks;
    for (int number = 0; number < task_count; ++number) {
      ASSERT_TRUE(tasks.spawn("writer", [&, number] {
        const std::string id = std::to_string(number);
        const ObjectKey key = {.type = "chess.Room", .id = id};
        ASSERT_TRUE(store.seal(key, 1, soon()));
        for (Written& mine = written[static_cast<std::size_t>(number)]; !is_killed;) {
          const std::uint64_t version = mine.acknowledged;
          mine.asked_for = version + 1;
          const std::string state = id + " at " + std::to_string(version + 1);
          if (!store.write(key, 1, version, {.bytes = state}, soon())) return;
          mine.acknowledged = version + 1;
          if (++acknowledged_count == 100) many.set();
        }
      }));
    }
    ASSERT_TRUE(many.wait(soon()));
    is_killed = true;
    server_->kill();
    EXPECT_TRUE(tasks.join(soon()));
    server_->start();
    for (int number = 0; number < task_count; ++number) {
      const std::string id = std::to_string(number);
      const Written& mine = written[static_cast<std::size_t>(number)];
      const StoredObject found = load(store, {.type = "chess.Room", .id = id}, 2);
      EXPECT_THAT(found.version,
                  AllOf(testing::Ge(mine.acknowledged), testing::Le(mine.asked_for)));
      const std::string state = id + " at " + std::to_string(found.version);
      EXPECT_EQ(found.bytes, found.version == 0 ? "" : state);
    }
  });
}

TEST_F(RedisServerTest, EpochsGrowAcrossAKill) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    RedisStore store(real.network, options());
    std::uint64_t last = 0;
    for (int round = 0; round < 3; ++round) {
      auto epoch = store.next_epoch(soon());
      // The store may not have noticed the lost connection yet.
      if (!epoch) epoch = store.next_epoch(soon());
      ASSERT_TRUE(epoch) << epoch;
      EXPECT_GT(*epoch, last);
      last = *epoch;
      server_->kill();
      server_->start();
    }
  });
}

// --- A reply that is lost ---------------------------------------------------------------------

TEST_F(RedisServerTest, ASealResolvesAWriteWhoseReplyWasLost) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    ChaosProxy proxy(real.network, {.target = {.address = server_->endpoint().host}});
    const auto listening = proxy.listen({.address = "127.0.0.1", .port = 0});
    ASSERT_TRUE(listening) << listening.error();
    RedisStore store(real.network,
                     {.endpoints = {{.host = listening->address, .port = listening->port}}});
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    // From now on the server has the script.
    ASSERT_TRUE(store.write(alice, 1, 0, {.bytes = "first"}, soon()));
    std::uint64_t version = 1;
    for (const ChaosFault fault : {ChaosFault::reset, ChaosFault::close}) {
      ASSERT_EQ(proxy.connections().size(), 1u);
      proxy.inject_after(proxy.connections().front(), ChaosDirection::to_client, fault, 1);
      const std::string state = "of version " + std::to_string(version + 1);
      const auto unknown = store.write(alice, 1, version, {.bytes = state}, soon());
      ASSERT_THAT(unknown, fails_with(Code::unavailable)) << to_string(fault);
      EXPECT_TRUE(unknown.error().maybe_executed());
      ++version;
      EXPECT_EQ(load(store, alice, 1), (StoredObject{.version = version, .bytes = state}));
      EXPECT_TRUE(store.write(alice, 1, version, {.bytes = "next"}, soon()));
      ++version;
    }
  });
}

TEST_F(RedisServerTest, ASilentServerIsAbandonedAndTheNextConnectionResolves) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    ChaosProxy proxy(real.network, {.target = {.address = server_->endpoint().host}});
    const auto listening = proxy.listen({.address = "127.0.0.1", .port = 0});
    ASSERT_TRUE(listening) << listening.error();
    RedisStore store(real.network,
                     {.endpoints = {{.host = listening->address, .port = listening->port}},
                      .silence_max = 300ms});
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    ASSERT_TRUE(store.write(alice, 1, 0, {.bytes = "first"}, soon()));
    proxy.inject_after(proxy.connections().front(), ChaosDirection::to_client, ChaosFault::drop, 1);
    const auto unknown = store.write(alice, 1, 1, {.bytes = "unheard"}, soon());
    ASSERT_THAT(unknown, fails_with(Code::unavailable));
    EXPECT_TRUE(unknown.error().maybe_executed());
    auto sealed = store.seal(alice, 1, soon());
    // A busy machine may be silent for as long.
    while (!sealed && sealed.error().code() == Code::unavailable) {
      sealed = store.seal(alice, 1, soon());
    }
    ASSERT_TRUE(sealed) << sealed;
    EXPECT_EQ(*sealed, (StoredObject{.version = 2, .bytes = "unheard"}));
  });
}

// --- A server with rules ----------------------------------------------------------------------

TEST_F(RedisServerTest, OnlyTheRightPasswordIsAccepted) {
  start({"--requirepass", "secret"});
  test::run_on_real_loop([&](RealLoop& real) {
    RedisStore::Options none = options();
    RedisStore::Options wrong = options();
    wrong.password = "guess";
    RedisStore::Options right = options();
    right.password = "secret";
    const auto without = RedisStore(real.network, none).next_epoch(soon());
    ASSERT_THAT(without, fails_with(Code::unauthenticated));
    EXPECT_THAT(without.error().message(), HasSubstr("wants a password"));
    const auto guessed = RedisStore(real.network, wrong).next_epoch(soon());
    ASSERT_THAT(guessed, fails_with(Code::unauthenticated));
    EXPECT_THAT(guessed.error().message(), HasSubstr("does not know this user or password"));
    EXPECT_TRUE(RedisStore(real.network, right).next_epoch(soon()));
  });
}

TEST_F(RedisServerTest, AUserNeedsOnlyThePermissionsOfTheREADME) {
  start({"--user", "game", "on", ">secret", "~corolane:*", "-@all", "+ping", "+select", "+incr",
         "+eval", "+evalsha", "+hmget", "+hset", "+hdel", "+del", "+zadd", "+zrem",
         "+zrangebyscore"});
  test::run_on_real_loop([&](RealLoop& real) {
    RedisStore::Options as_game = options();
    as_game.user = "game";
    as_game.password = "secret";
    as_game.database = 3;
    RedisStore store(real.network, as_game);
    EXPECT_EQ(store.partition_count(2'048, soon()), 2'048U);
    EXPECT_TRUE(store.next_epoch(soon()));
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    EXPECT_TRUE(store.write(alice, 1, 0, {.bytes = "a", .wake_at = WallTime(1ms)}, soon()));
    EXPECT_TRUE(store.write(alice, 1, 1, {.bytes = "b"}, soon()));
    const Partition partition = partition_of(alice.type, alice.id);
    EXPECT_TRUE(store.due(partition, WallTime(1ms), 1, soon()));
    EXPECT_TRUE(store.write(alice, 1, 2, {.bytes = "c", .forget_at = WallTime(1ms)}, soon()));
    EXPECT_TRUE(store.write(alice, 1, 3, {.bytes = "d"}, soon()));
    EXPECT_TRUE(store.write(alice, 1, 4, {.bytes = "e", .forget_at = WallTime(1ms)}, soon()));
    EXPECT_EQ(store.forget(partition, WallTime(1ms), 10, soon()), 1U);
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    EXPECT_TRUE(store.release(alice, 1, soon()));
    as_game.key_prefix = "theirs:";
    EXPECT_THAT(RedisStore(real.network, as_game).next_epoch(soon()),
                fails_with(Code::permission_denied));
  });
}

TEST_F(RedisServerTest, AFullServerRefusesWritesAndChangesNothingUntilThereIsRoom) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    detail::RedisClient client(real.network, options(), server_->endpoint());
    RedisStore store(real.network, options());
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    ASSERT_TRUE(store.write(alice, 1, 0, {.bytes = "small"}, soon()));
    ASSERT_EQ(ask(client, {"CONFIG", "SET", "maxmemory", "1"}).text, "OK");
    for (const auto& wake_at : {std::optional<WallTime>(), std::optional(WallTime(1ms))}) {
      const ObjectWrite write = {.bytes = "larger", .wake_at = wake_at};
      const auto refused = store.write(alice, 1, 1, write, soon());
      ASSERT_THAT(refused, fails_with(Code::resource_exhausted));
      EXPECT_FALSE(refused.error().maybe_executed());
      EXPECT_THAT(refused.error().message(), HasSubstr("maxmemory"));
    }
    EXPECT_THAT(store.seal(alice, 2, soon()), fails_with(Code::resource_exhausted));
    EXPECT_EQ(load(store, alice, 1), (StoredObject{.version = 1, .bytes = "small"}));
    const auto due = store.due(partition_of(alice.type, alice.id), WallTime(1ms), 1, soon());
    ASSERT_TRUE(due) << due.error();
    EXPECT_THAT(*due, testing::IsEmpty());
    ASSERT_EQ(ask(client, {"CONFIG", "SET", "maxmemory", "0"}).text, "OK");
    EXPECT_TRUE(store.write(alice, 1, 1, {.bytes = "larger"}, soon()));
  });
}

// --- What lies there --------------------------------------------------------------------------

TEST_F(RedisServerTest, KeysAreAsDocumentedInTheHeader) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    const Partition partition = partition_of(alice.type, alice.id);
    const std::string object =
        "corolane:{" + std::to_string(partition) + "}:object:chess.Player:alice";
    const std::string due = "corolane:{" + std::to_string(partition) + "}:due";
    RedisStore store(real.network, options());
    ASSERT_TRUE(store.next_epoch(soon()));
    ASSERT_TRUE(store.seal(alice, 42, soon()));
    ASSERT_TRUE(store.write(alice, 42, 0, {.bytes = "state", .wake_at = WallTime(1234ms)}, soon()));
    detail::RedisClient client(real.network, options(), server_->endpoint());
    EXPECT_THAT(texts(client, {"KEYS", "*"}),
                testing::UnorderedElementsAre("corolane:server", "corolane:servers",
                                              "corolane:epoch", object, due));
    EXPECT_EQ(ask(client, {"GET", "corolane:epoch"}).text, "1");
    EXPECT_THAT(texts(client, {"HMGET", object, "epoch", "version", "state"}),
                ElementsAre("00000000000000000042", "1", "state"));
    EXPECT_THAT(texts(client, {"ZRANGE", due, "0", "-1", "WITHSCORES"}),
                ElementsAre("chess.Player:alice", "1234"));
    ASSERT_TRUE(store.write(alice, 42, 1, {.bytes = ""}, soon()));
    EXPECT_THAT(texts(client, {"KEYS", "*"}),
                testing::UnorderedElementsAre("corolane:server", "corolane:servers",
                                              "corolane:epoch", object))
        << "an empty set is none";
  });
}

TEST_F(RedisServerTest, ANewStoreTakesTheWantedNumberOfPartitionsAndKeepsIt) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    RedisStore store(real.network, options());
    EXPECT_EQ(store.partition_count(4'096, soon()), 4'096U);
    EXPECT_EQ(store.partition_count(16'384, soon()), 4'096U);
    const DirectoryMark mark = {.id = "a1b2", .revision = 7};
    EXPECT_EQ(store.note_directory(mark, {}, soon()), mark);
    EXPECT_EQ(store.note_directory(mark, {}, soon()), mark);
    EXPECT_EQ(store.note_directory({.id = "other", .revision = 8}, {}, soon()), mark);
    ASSERT_TRUE(store.next_epoch(soon()));
    RedisStore later(real.network, options());
    EXPECT_EQ(later.partition_count(16'384, soon()), 4'096U);
    // A former build compares this with the id of its directory, and stays away.
    detail::RedisClient client(real.network, options(), server_->endpoint());
    EXPECT_THAT(texts(client, {"HMGET", "corolane:directory", "id"}),
                ElementsAre("a1b2 in 4096 partitions"));
  });
}

TEST_F(RedisServerTest, AFormerBuildStaysAwayEvenBeforeADirectoryIsNoted) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    RedisStore store(real.network, options());
    ASSERT_EQ(store.partition_count(4'096, soon()), 4'096U);
    detail::RedisClient client(real.network, options(), server_->endpoint());
    EXPECT_THAT(texts(client, {"HMGET", "corolane:directory", "id"}),
                ElementsAre(" in 4096 partitions"));
    const DirectoryMark mark = {.id = "a1b2", .revision = 7};
    EXPECT_EQ(store.note_directory(mark, {.partition_count = 4'096}, soon()), mark);
  });
}

TEST_F(RedisServerTest, AnEmptiedStoreIsToldTheNumberOfPartitionsAgain) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    RedisStore store(real.network, options());
    ASSERT_EQ(store.partition_count(4'096, soon()), 4'096U);
    const DirectoryMark mark = {.id = "a1b2", .revision = 7};
    const NoteOptions of_node = {.partition_count = 4'096};
    ASSERT_EQ(store.note_directory(mark, of_node, soon()), mark);
    detail::RedisClient client(real.network, options(), server_->endpoint());
    ASSERT_EQ(ask(client, {"DEL", "corolane:directory"}).number, 1);
    EXPECT_EQ(store.note_directory(mark, of_node, soon()), mark);
    EXPECT_EQ(store.partition_count(16'384, soon()), 4'096U);
  });
}

TEST_F(RedisServerTest, AStoreWithAnotherNumberOfPartitionsIsRefused) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    RedisStore store(real.network, options());
    const DirectoryMark mark = {.id = "a1b2", .revision = 7};
    ASSERT_EQ(store.note_directory(mark, {.partition_count = 1'024}, soon()), mark);
    const auto noted = store.note_directory(mark, {.partition_count = 4'096}, soon());
    EXPECT_THAT(noted, fails_with(Code::failed_precondition));
    EXPECT_THAT(noted.error().message(), testing::HasSubstr("has objects in 1024 partitions"));
  });
}

// A former build has noted it after this one chose the number.
TEST_F(RedisServerTest, AnIdOfAFormerBuildIsAnotherOne) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    RedisStore store(real.network, options());
    ASSERT_EQ(store.partition_count(4'096, soon()), 4'096U);
    detail::RedisClient client(real.network, options(), server_->endpoint());
    static_cast<void>(ask(client, {"HSET", "corolane:directory", "id", "a1b2", "revision",
                                   "00000000000000000007", "generation", "00000000000000000000"}));
    const auto noted = store.note_directory({.id = "a1b2", .revision = 8}, {}, soon());
    ASSERT_TRUE(noted) << noted;
    EXPECT_EQ(noted->id, "a1b2 of a former build");
  });
}

TEST_F(RedisServerTest, AStoreOfAFormerBuildHasTheSmallestNumberOfPartitions) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    RedisStore::Options of_one = options();
    of_one.key_prefix = "one:";
    RedisStore alone(real.network, of_one);
    ASSERT_TRUE(alone.next_epoch(soon())) << "a node that is alone draws one";
    EXPECT_EQ(alone.partition_count(16'384, soon()), 1'024U);
    RedisStore shared(real.network, options());
    const DirectoryMark mark = {.id = "a1b2", .revision = 7};
    EXPECT_EQ(shared.note_directory(mark, {}, soon()), mark);
    EXPECT_EQ(shared.partition_count(16'384, soon()), 1'024U);
    EXPECT_EQ(shared.note_directory(mark, {}, soon()), mark) << "former builds may come back";
    detail::RedisClient client(real.network, options(), server_->endpoint());
    EXPECT_THAT(texts(client, {"HMGET", "corolane:directory", "id"}), ElementsAre("a1b2"));
  });
}

TEST_F(RedisServerTest, AForeignKeyIsLeftUnchanged) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    const std::string partition = std::to_string(partition_of(alice.type, alice.id));
    const std::string object = "corolane:{" + partition + "}:object:chess.Player:alice";
    detail::RedisClient client(real.network, options(), server_->endpoint());
    EXPECT_EQ(ask(client, {"SET", object, "theirs"}).text, "OK");
    EXPECT_EQ(ask(client, {"SET", "corolane:epoch", "theirs"}).text, "OK");
    RedisStore store(real.network, options());
    EXPECT_THAT(store.seal(alice, 1, soon()), fails_with(Code::data_loss));
    EXPECT_THAT(store.write(alice, 1, 0, {.bytes = "ours"}, soon()), fails_with(Code::data_loss));
    EXPECT_FALSE(store.next_epoch(soon()));
    EXPECT_EQ(ask(client, {"GET", object}).text, "theirs");
  });
}

TEST_F(RedisServerTest, AServerThatForgetsItsScriptsGetsThemAgain) {
  start();
  test::run_on_real_loop([&](RealLoop& real) {
    detail::RedisClient client(real.network, options(), server_->endpoint());
    RedisStore store(real.network, options());
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    for (std::uint64_t version = 0; version < 3; ++version) {
      EXPECT_EQ(ask(client, {"SCRIPT", "FLUSH"}).text, "OK");
      EXPECT_TRUE(store.write(alice, 1, version, {.bytes = "state"}, soon()));
    }
  });
}

}  // namespace
}  // namespace corolane::framework
