// SPDX-License-Identifier: MIT
// A RedisStore with several real servers: which one has which partition, and what happens when one
// is away, full, empty, or another one than before.
#include "framework/store/detail/redis_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/programs.h"
#include "framework/store/detail/redis_client.h"
#include "framework/store/redis_store.h"
#include "test/fixtures/real_loop.h"
#include "tools/processes/redis_server.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using detail::redis_server_of;
using test::fails_with;
using test::RealLoop;
using test::RedisServer;
using test::run_on_real_loop;
using test::soon;
using testing::AllOf;
using testing::HasSubstr;

struct Name {
  std::string id;
  ObjectKey key() const { return {.type = "chess.Player", .id = id}; }
};

// An object on the server at that position.
Name name_at(std::size_t remainder, std::size_t server_count) {
  for (int number = 0;; ++number) {
    Name name{.id = std::to_string(number)};
    if (partition_of("chess.Player", name.id) % server_count == remainder) return name;
  }
}

TEST(RedisServerOfTest, APartitionBelongsToTheServerAtItsRemainder) {
  for (const auto& [partition, count, server] :
       std::initializer_list<std::tuple<Partition, std::size_t, std::size_t>>{{0, 1, 0},
                                                                              {1023, 1, 0},
                                                                              {0, 2, 0},
                                                                              {1, 2, 1},
                                                                              {1023, 2, 1},
                                                                              {0, 3, 0},
                                                                              {17, 3, 2},
                                                                              {511, 3, 1},
                                                                              {512, 3, 2},
                                                                              {1022, 3, 2},
                                                                              {1023, 3, 0},
                                                                              {1023, 1024, 1023}}) {
    EXPECT_EQ(redis_server_of(partition, count), server) << partition << " of " << count;
  }
}

class RedisServersTest : public testing::Test {
 protected:
  void SetUp() override { COROLANE_NEEDS(RedisServer::missing()); }

  RedisServer& start() { return servers_.emplace_back(); }

  static RedisStore::Options with(std::initializer_list<const RedisServer*> servers) {
    RedisStore::Options options{.endpoints = {}, .unreachable_after = 20s};
    for (const RedisServer* const server : servers) options.endpoints.push_back(server->endpoint());
    return options;
  }
  static std::string name_of(const RedisServer& server) {
    return "redis " + server.endpoint().host + "/0";
  }
  // Uses a store once on each of its servers.
  static void use(RealLoop& real, std::initializer_list<const RedisServer*> servers) {
    RedisStore store(real.network, with(servers));
    for (std::size_t server = 0; server < servers.size(); ++server) {
      const Name name = name_at(server, servers.size());
      const auto sealed = store.seal(name.key(), 1, soon());
      ASSERT_TRUE(sealed) << sealed;
      ASSERT_TRUE(store.write(name.key(), 1, sealed->version, {.bytes = "state"}, soon()));
    }
  }
  // The error of a call to the server at that position, which must be refused.
  static Error refusal(RealLoop& real, std::initializer_list<const RedisServer*> servers,
                       std::size_t server) {
    RedisStore store(real.network, with(servers));
    const auto sealed = store.seal(name_at(server, servers.size()).key(), 2, soon());
    EXPECT_THAT(sealed, fails_with(Code::failed_precondition));
    return sealed ? Error(Code::unknown, "it was sealed") : sealed.error();
  }
  static detail::RedisReply ask(RealLoop& real, const RedisServer& server,
                                std::vector<std::string_view> words) {
    detail::RedisClient client(real.network, {}, server.endpoint());
    auto reply = client.call(words, soon());
    EXPECT_TRUE(reply) << reply.error();
    return reply ? *std::move(reply) : detail::RedisReply{};
  }

  std::list<RedisServer> servers_;
};

// --- Who has what -----------------------------------------------------------------------------

TEST_F(RedisServersTest, AnObjectIsOnTheServerOfItsPartitionAlone) {
  const RedisServer& first = start();
  const RedisServer& second = start();
  run_on_real_loop([&](RealLoop& real) {
    RedisStore store(real.network, with({&first, &second}));
    ASSERT_TRUE(store.note_directory({.id = "a", .revision = 1}, {}, soon()));
    const Name odd = name_at(1, 2);
    const Partition partition = partition_of("chess.Player", odd.id);
    ASSERT_TRUE(store.seal(odd.key(), 1, soon()));
    ASSERT_TRUE(store.write(odd.key(), 1, 0, {.bytes = "s", .wake_at = WallTime(1ms)}, soon()));
    const auto due = store.due(partition, WallTime(1ms), 1, soon());
    ASSERT_TRUE(due) << due.error();
    EXPECT_EQ(due->size(), 1U);
    ASSERT_TRUE(store.write(odd.key(), 1, 1, {.bytes = "", .forget_at = WallTime(1ms)}, soon()));
    EXPECT_EQ(store.forget(partition, WallTime(1ms), 10, soon()), 1U);

    const std::string floor = "corolane:{" + std::to_string(partition) + "}:floor";
    EXPECT_EQ(ask(real, second, {"HGET", floor, "epoch"}).text, "00000000000000000001");
    EXPECT_THAT(store.seal(odd.key(), 0, soon()), fails_with(Code::aborted)) << "below the floor";
    EXPECT_EQ(ask(real, second, {"EXISTS", "corolane:directory"}).number, 0);
    // The mark, the list of servers, and the directory.
    EXPECT_EQ(ask(real, first, {"DBSIZE"}).number, 3);
  });
}

TEST_F(RedisServersTest, AServerThatIsAwayAffectsItsOwnPartitionsOnly) {
  const RedisServer& first = start();
  RedisServer& second = start();
  run_on_real_loop([&](RealLoop& real) {
    use(real, {&first, &second});
    second.kill();
    RedisStore::Options options = with({&first, &second});
    options.unreachable_after = 50ms;
    RedisStore store(real.network, options);
    EXPECT_TRUE(store.note_directory({.id = "a", .revision = 1}, {}, soon()));
    EXPECT_TRUE(store.next_epoch(soon()));
    EXPECT_TRUE(store.seal(name_at(0, 2).key(), 2, soon()));
    const auto away = store.seal(name_at(1, 2).key(), 2, soon());
    ASSERT_THAT(away, fails_with(Code::unavailable));
    EXPECT_THAT(away.error().message(), HasSubstr(name_of(second)));
    second.start();
    auto back = store.seal(name_at(1, 2).key(), 2, soon());
    while (!back && back.error().code() == Code::unavailable) {
      ASSERT_TRUE(coroutine::yield());
      back = store.seal(name_at(1, 2).key(), 2, soon());
    }
    ASSERT_TRUE(back) << back;
    EXPECT_EQ(back->version, 1U);
  });
}

TEST_F(RedisServersTest, AStoreHasRoomWhenAllOfItsServersHave) {
  const RedisServer& first = start();
  const RedisServer& second = start();
  run_on_real_loop([&](RealLoop& real) {
    use(real, {&first, &second});
    RedisStore store(real.network, with({&first, &second}));
    EXPECT_TRUE(store.try_room(soon()));
    ask(real, second, {"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_TRUE(store.seal(name_at(0, 2).key(), 2, soon()));
    EXPECT_THAT(store.seal(name_at(1, 2).key(), 2, soon()), fails_with(Code::resource_exhausted));
    EXPECT_THAT(store.try_room(soon()), fails_with(Code::resource_exhausted));
    ask(real, second, {"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_TRUE(store.try_room(soon()));
  });
}

// --- Marks ------------------------------------------------------------------------------------

TEST_F(RedisServersTest, ServersAreMarkedOnceByAnyNumberOfNodes) {
  const RedisServer& first = start();
  const RedisServer& second = start();
  const RedisServer& third = start();
  run_on_real_loop([&](RealLoop& real) {
    std::list<RedisStore> stores;
    coroutine::TaskGroup tasks;
    for (int node = 0; node < 10; ++node) {
      RedisStore& store = stores.emplace_back(real.network, with({&first, &second, &third}));
      for (std::size_t server = 0; server < 3; ++server) {
        ASSERT_TRUE(tasks.spawn("first call", [&store, server] {
          const auto sealed = store.seal(name_at(server, 3).key(), 1, soon());
          EXPECT_TRUE(sealed) << sealed;
        }));
      }
    }
    EXPECT_TRUE(tasks.join(soon()));
    const auto store = ask(real, first, {"HGET", "corolane:server", "store"}).text;
    for (const auto& [server, number] : {std::pair(&first, "1"), {&second, "2"}, {&third, "3"}}) {
      EXPECT_EQ(ask(real, *server, {"HGET", "corolane:server", "store"}).text, store);
      EXPECT_EQ(ask(real, *server, {"HGET", "corolane:server", "server"}).text, number);
      EXPECT_EQ(ask(real, *server, {"HGET", "corolane:server", "servers"}).text, "3");
      EXPECT_EQ(ask(real, *server, {"HGET", "corolane:server", "id"}).text,
                ask(real, first, {"HGET", "corolane:servers", number}).text);
    }
  });
}

TEST_F(RedisServersTest, AnotherOrderOrNumberOfServersIsRefused) {
  const RedisServer& first = start();
  const RedisServer& second = start();
  const RedisServer& third = start();
  run_on_real_loop([&](RealLoop& real) {
    use(real, {&first, &second});
    EXPECT_THAT(refusal(real, {&second, &first}, 0).message(),
                AllOf(HasSubstr(name_of(second)), HasSubstr("it is server 2 of 2"),
                      HasSubstr("configured as server 1 of 2"),
                      HasSubstr("in the same order, on all nodes")));
    EXPECT_THAT(refusal(real, {&first}, 0).message(),
                AllOf(HasSubstr(name_of(first)), HasSubstr("it is server 1 of 2"),
                      HasSubstr("configured as server 1 of 1")));
    EXPECT_THAT(refusal(real, {&first, &second, &third}, 2).message(),
                AllOf(HasSubstr(name_of(first)), HasSubstr("it is server 1 of 2")));
    EXPECT_EQ(ask(real, third, {"DBSIZE"}).number, 0);
    use(real, {&first, &second});
  });
}

TEST_F(RedisServersTest, ANodeStartsWithTheRightServersOnly) {
  const RedisServer& first = start();
  const RedisServer& second = start();
  const RedisServer& third = start();
  run_on_real_loop([&](RealLoop& real) {
    use(real, {&first, &second});
    for (const RedisServer* const wrong : {&first, &third}) {
      RedisStore store(real.network, with({&first, wrong}));
      EXPECT_THAT(store.note_directory({.id = "a", .revision = 1}, {}, soon()),
                  fails_with(Code::failed_precondition));
      EXPECT_THAT(store.next_epoch(soon()), fails_with(Code::failed_precondition));
    }
  });
}

TEST_F(RedisServersTest, AnEmptyServerInThePlaceOfAMarkedOneIsRefused) {
  const RedisServer& first = start();
  const RedisServer& second = start();
  const RedisServer& empty = start();
  run_on_real_loop([&](RealLoop& real) {
    use(real, {&first, &second});
    EXPECT_THAT(refusal(real, {&first, &empty}, 1).message(),
                AllOf(HasSubstr(name_of(empty) + " has no mark"),
                      HasSubstr("server 2 of 2 had one"), HasSubstr("it has lost its data")));
    EXPECT_THAT(refusal(real, {&empty, &second}, 0).message(),
                AllOf(HasSubstr(name_of(empty) + " has no mark"), HasSubstr(name_of(second)),
                      HasSubstr("it has lost its data")));
    EXPECT_EQ(ask(real, empty, {"DBSIZE"}).number, 0);
    // As the runbook says.
    ask(real, first, {"HDEL", "corolane:servers", "2"});
    use(real, {&first, &empty});
  });
}

TEST_F(RedisServersTest, ServersOfTwoStoresAreNotMixed) {
  const RedisServer& first = start();
  const RedisServer& second = start();
  const RedisServer& other_first = start();
  const RedisServer& other_second = start();
  run_on_real_loop([&](RealLoop& real) {
    use(real, {&first, &second});
    use(real, {&other_first, &other_second});
    RedisStore store(real.network, with({&first, &other_second}));
    ASSERT_TRUE(store.seal(name_at(0, 2).key(), 2, soon()));
    const auto sealed = store.seal(name_at(1, 2).key(), 2, soon());
    ASSERT_THAT(sealed, fails_with(Code::failed_precondition));
    EXPECT_THAT(sealed.error().message(),
                AllOf(HasSubstr(name_of(other_second)), HasSubstr("it belongs to the store"),
                      HasSubstr(name_of(first))));
  });
}

TEST_F(RedisServersTest, ASecondServerForTheSameNumberIsRefusedAlsoWhenBothAreNew) {
  const RedisServer& first = start();
  const RedisServer& second = start();
  const RedisServer& rival = start();
  run_on_real_loop([&](RealLoop& real) {
    use(real, {&first, &second});
    // Another node has marked it at the same moment, and the first server has listed it later.
    const std::string store = ask(real, first, {"HGET", "corolane:server", "store"}).text;
    ask(real, rival,
        {"HSET", "corolane:server", "store", store, "server", "2", "servers", "2", "id", "rival"});
    EXPECT_THAT(refusal(real, {&first, &rival}, 1).message(),
                AllOf(HasSubstr(name_of(rival)), HasSubstr("is not the server 2 of 2")));
  });
}

TEST_F(RedisServersTest, ANodeThatDiedWhileItMarkedServersIsContinued) {
  const RedisServer& first = start();
  const RedisServer& second = start();
  run_on_real_loop([&](RealLoop& real) {
    for (const RedisServer* const server : {&first, &second}) {
      use(real, {&first, &second});
      ask(real, *server, {"HDEL", "corolane:server", "known"});
    }
    ask(real, first, {"HDEL", "corolane:servers", "2"});
    use(real, {&first, &second});
    EXPECT_EQ(ask(real, second, {"HGET", "corolane:server", "known"}).text, "1");
    EXPECT_EQ(ask(real, second, {"HGET", "corolane:server", "id"}).text,
              ask(real, first, {"HGET", "corolane:servers", "2"}).text);
  });
}

TEST_F(RedisServersTest, AStoreOfOneServerThatHasNoMarkYetIsMarkedAndNotSpreadOverTwo) {
  const RedisServer& first = start();
  const RedisServer& second = start();
  run_on_real_loop([&](RealLoop& real) {
    for (const char* const key : {"corolane:directory", "corolane:epoch"}) {
      ask(real, first, {"FLUSHALL"});
      // As an earlier build leaves it.
      if (key == std::string_view("corolane:directory")) {
        ask(real, first, {"HSET", key, "id", "a", "revision", "1", "generation", "0"});
      } else {
        ask(real, first, {"INCR", key});
      }
      for (const auto& servers : {with({&first, &second}), with({&second, &first})}) {
        const auto sealed = RedisStore(real.network, servers).seal(name_at(0, 2).key(), 1, soon());
        ASSERT_THAT(sealed, fails_with(Code::failed_precondition)) << key;
        EXPECT_THAT(sealed.error().message(),
                    HasSubstr(name_of(first) + " holds the objects of a store of one server"));
      }
      EXPECT_EQ(ask(real, second, {"DBSIZE"}).number, 0);
      use(real, {&first});
      EXPECT_THAT(refusal(real, {&first, &second}, 0).message(), HasSubstr("server 1 of 1"));
    }
  });
}

TEST_F(RedisServersTest, ANewStoreWaitsUntilAllOfItsServersHaveAnswered) {
  const RedisServer& first = start();
  RedisServer& second = start();
  second.kill();
  run_on_real_loop([&](RealLoop& real) {
    RedisStore::Options options = with({&first, &second});
    options.unreachable_after = 500ms;
    const auto sealed = RedisStore(real.network, options).seal(name_at(0, 2).key(), 1, soon());
    ASSERT_THAT(sealed, fails_with(Code::unavailable));
    EXPECT_THAT(sealed.error().message(),
                AllOf(HasSubstr("each server of a new store must answer once"),
                      HasSubstr(name_of(second))));
    EXPECT_EQ(ask(real, first, {"DBSIZE"}).number, 0);
    second.start();
    use(real, {&first, &second});
  });
}

// --- Replicas ---------------------------------------------------------------------------------

TEST_F(RedisServersTest, AReplicaIsRefusedUntilItIsPromoted) {
  const RedisServer& server = start();
  run_on_real_loop([&](RealLoop& real) {
    use(real, {&server});
    // Its master is not there, so the data stays what it is.
    ask(real, server, {"REPLICAOF", "127.0.0.1", "1"});
    RedisStore store(real.network, with({&server}));
    const ObjectKey key = {.type = "chess.Player", .id = "new"};
    const auto refused = store.seal(key, 1, soon());
    ASSERT_THAT(refused, fails_with(Code::unavailable));
    EXPECT_FALSE(refused.error().maybe_executed());
    EXPECT_THAT(refused.error().message(),
                AllOf(HasSubstr(name_of(server)), HasSubstr("it is a replica"),
                      HasSubstr("must lead to its master")));
    ask(real, server, {"REPLICAOF", "NO", "ONE"});
    auto promoted = store.seal(key, 1, soon());
    while (!promoted && promoted.error().code() == Code::unavailable) {
      ASSERT_TRUE(coroutine::yield());
      promoted = store.seal(key, 1, soon());
    }
    EXPECT_TRUE(promoted) << promoted;
  });
}

// A replica that lacked the last write is promoted.
TEST_F(RedisServersTest, AFailoverThatLostAWriteIsNoticedAtTheNextOneOfItsObject) {
  const RedisServer& master = start();
  const RedisServer& replica = start();
  run_on_real_loop([&](RealLoop& real) {
    // The mark of a replica is that of its master; here it is copied by hand.
    use(real, {&master});
    const ObjectKey key = {.type = "chess.Player", .id = "new"};
    const std::string object =
        "corolane:{" + std::to_string(partition_of(key.type, key.id)) + "}:object:chess.Player:new";
    RedisStore before(real.network, with({&master}));
    ASSERT_TRUE(before.seal(key, 7, soon()));
    ASSERT_TRUE(before.write(key, 7, 0, {.bytes = "replicated"}, soon()));
    for (const std::string& copied : {std::string("corolane:server"), object}) {
      const auto bytes = ask(real, master, {"DUMP", copied});
      ask(real, replica, {"RESTORE", copied, "0", bytes.text});
    }
    ASSERT_TRUE(before.write(key, 7, 1, {.bytes = "lost"}, soon()));

    RedisStore after(real.network, with({&replica}));
    const auto refused = after.write(key, 7, 2, {.bytes = "next"}, soon());
    ASSERT_THAT(refused, fails_with(Code::aborted));
    EXPECT_THAT(refused.error().message(), HasSubstr("epoch 7, version 1"));
    const auto sealed = after.seal(key, 7, soon());
    ASSERT_TRUE(sealed) << "the owner's epoch stands, so it knows that the store was set back";
    EXPECT_EQ(*sealed, (StoredObject{.version = 1, .bytes = "replicated"}));
  });
}

}  // namespace
}  // namespace corolane::framework
