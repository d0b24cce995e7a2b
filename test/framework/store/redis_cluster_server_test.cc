// SPDX-License-Identifier: MIT
// A RedisStore on a real Redis Cluster whose slots move between its members.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/programs.h"
#include "framework/store/detail/redis_client.h"
#include "framework/store/redis_store.h"
#include "test/fixtures/real_loop.h"
#include "tools/processes/redis_server.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::RedisServer;
using test::run_on_real_loop;
using test::soon;
using testing::HasSubstr;

constexpr ObjectKey bishop = {.type = "chess.Player", .id = "bishop"};

struct ClusterMember {
  std::string port;
  std::string bus_port;
  std::unique_ptr<RedisServer> server;
  net::HostPort endpoint() const {
    return {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(std::stoi(port))};
  }
};

class RedisClusterServerTest : public testing::Test {
 protected:
  void SetUp() override {
    COROLANE_NEEDS(RedisServer::missing());
    run_on_real_loop([&](RealLoop& real) {
      // All at once: a port that is given back could be the next one.
      std::vector<std::unique_ptr<net::Listener>> listeners;
      for (std::string* const port :
           {&first_.port, &first_.bus_port, &second_.port, &second_.bus_port}) {
        auto listener = real.network.listen({.address = "127.0.0.1"});
        ASSERT_TRUE(listener) << listener;
        *port = std::to_string((*listener)->local_endpoint().port);
        listeners.push_back(*std::move(listener));
      }
    });
  }

  // Each has half of the slots.
  void start(RealLoop& real) {
    for (ClusterMember* const member : {&first_, &second_}) {
      member->server = std::make_unique<RedisServer>(std::vector<std::string>{
          "--port", member->port, "--bind", "127.0.0.1", "--cluster-enabled", "yes",
          "--cluster-port", member->bus_port, "--cluster-announce-ip", "127.0.0.1"});
    }
    ask(real, first_, {"CLUSTER", "ADDSLOTSRANGE", "0", "8191"});
    ask(real, second_, {"CLUSTER", "ADDSLOTSRANGE", "8192", "16383"});
    ask(real, first_, {"CLUSTER", "MEET", "127.0.0.1", second_.port, second_.bus_port});
    for (const ClusterMember* const member : {&first_, &second_}) {
      while (!ask(real, *member, {"CLUSTER", "INFO"}).text.contains("cluster_state:ok")) {
      }
    }
  }

  static detail::RedisReply ask(RealLoop& real, const ClusterMember& member,
                                std::vector<std::string_view> words) {
    detail::RedisClient client(real.network, {}, member.server->endpoint());
    auto reply = client.call(words, soon());
    EXPECT_TRUE(reply) << reply.error();
    if (reply) {
      EXPECT_NE(reply->kind, detail::RedisReply::Kind::error) << reply->text;
    }
    return reply ? *std::move(reply) : detail::RedisReply{};
  }

  RedisStore::Options options() const {
    return {.endpoints = {first_.endpoint()}, .is_cluster = true, .unreachable_after = 20s};
  }

  // The move of a slot, in the steps of `redis-cli --cluster reshard`.
  struct Move {
    std::string slot;
    std::string from_id;
    std::string to_id;
    ClusterMember& from;
    ClusterMember& to;
  };
  Move begin_move(RealLoop& real, std::string_view key) {
    const std::int64_t slot = ask(real, first_, {"CLUSTER", "KEYSLOT", key}).number;
    ClusterMember& from = slot < 8192 ? first_ : second_;
    ClusterMember& to = slot < 8192 ? second_ : first_;
    Move move{.slot = std::to_string(slot),
              .from_id = ask(real, from, {"CLUSTER", "MYID"}).text,
              .to_id = ask(real, to, {"CLUSTER", "MYID"}).text,
              .from = from,
              .to = to};
    ask(real, to, {"CLUSTER", "SETSLOT", move.slot, "IMPORTING", move.from_id});
    ask(real, from, {"CLUSTER", "SETSLOT", move.slot, "MIGRATING", move.to_id});
    return move;
  }
  static void move_keys(RealLoop& real, const Move& move) {
    for (const auto& key :
         ask(real, move.from, {"CLUSTER", "GETKEYSINSLOT", move.slot, "99"}).items)
      ask(real, move.from, {"MIGRATE", "127.0.0.1", move.to.port, key.text, "0", "5000"});
  }
  static void end_move(RealLoop& real, const Move& move) {
    ask(real, move.to, {"CLUSTER", "SETSLOT", move.slot, "NODE", move.to_id});
    ask(real, move.from, {"CLUSTER", "SETSLOT", move.slot, "NODE", move.to_id});
  }

  ClusterMember first_;
  ClusterMember second_;
};

TEST_F(RedisClusterServerTest, ObjectsOfAllPartitionsAreFoundAtTheirMembers) {
  run_on_real_loop([&](RealLoop& real) {
    start(real);
    RedisStore store(real.network, options());
    ASSERT_TRUE(store.note_directory({.id = "a", .revision = 1}, {}, soon()));
    EXPECT_EQ(store.next_epoch(soon()), 1U);
    for (int number = 0; number < 100; ++number) {
      const std::string id = std::to_string(number);
      const ObjectKey key = {.type = "chess.Player", .id = id};
      const Partition partition = partition_of(key.type, key.id);
      ASSERT_TRUE(store.seal(key, 1, soon()));
      ASSERT_TRUE(store.write(key, 1, 0, {.bytes = id, .wake_at = WallTime(1ms)}, soon()));
      const auto due = store.due(partition, WallTime(1ms), 10, soon());
      ASSERT_TRUE(due) << due;
      EXPECT_FALSE(due->empty());
    }
    EXPECT_TRUE(store.try_room(soon()));
    EXPECT_GT(ask(real, first_, {"DBSIZE"}).number, 0);
    EXPECT_GT(ask(real, second_, {"DBSIZE"}).number, 0);
  });
}

TEST_F(RedisClusterServerTest, APartitionMovesWhileItsObjectIsWritten) {
  run_on_real_loop([&](RealLoop& real) {
    start(real);
    RedisStore store(real.network, options());
    ASSERT_TRUE(store.seal(bishop, 1, soon()));
    std::uint64_t version = 0;
    bool is_ending = false;
    coroutine::Event wrote("a write");
    auto writer = coroutine::spawn("writer", [&] {
      while (!is_ending) {
        const std::string state = std::to_string(version + 1);
        const auto written = store.write(bishop, 1, version, {.bytes = state}, soon());
        ASSERT_TRUE(written) << written;
        ++version;
        wrote.pulse();
      }
    });
    const auto wait_for_writes = [&] {
      const std::uint64_t end = version + 20;
      while (version < end) ASSERT_TRUE(wrote.wait(soon()));
    };
    wait_for_writes();
    const std::string tag =
        "corolane:{" + std::to_string(partition_of(bishop.type, bishop.id)) + "}";
    const Move move = begin_move(real, tag);
    move_keys(real, move);
    end_move(real, move);
    wait_for_writes();
    const std::string object = tag + ":object:chess.Player:bishop";
    EXPECT_EQ(ask(real, move.to, {"HGET", object, "epoch"}).text, "00000000000000000001");
    is_ending = true;
    EXPECT_TRUE(writer.join(soon()));
    const auto sealed = store.seal(bishop, 2, soon());
    ASSERT_TRUE(sealed) << sealed;
    EXPECT_EQ(*sealed, (StoredObject{.version = version, .bytes = std::to_string(version)}));
    // A store that starts later finds it, too.
    RedisStore later(real.network, options());
    EXPECT_EQ(later.seal(bishop, 2, soon()).value_or(StoredObject{}).version, version);
  });
}

TEST_F(RedisClusterServerTest, AKeyIsFoundWhileItIsOnItsWay) {
  run_on_real_loop([&](RealLoop& real) {
    start(real);
    RedisStore store(real.network, options());
    EXPECT_EQ(store.next_epoch(soon()), 1U);
    const Move move = begin_move(real, "corolane:epoch");
    EXPECT_EQ(store.next_epoch(soon()), 2U) << "not moved";
    move_keys(real, move);
    EXPECT_EQ(store.next_epoch(soon()), 3U) << "the next member is named for this command alone";
    end_move(real, move);
    EXPECT_EQ(store.next_epoch(soon()), 4U);
  });
}

TEST_F(RedisClusterServerTest, TheConfigurationSaysWhetherItIsACluster) {
  run_on_real_loop([&](RealLoop& real) {
    start(real);
    for (const ClusterMember* const member : {&first_, &second_}) {
      RedisStore store(real.network, {.endpoints = {member->endpoint()}, .unreachable_after = 20s});
      for (const auto& refused : {store.next_epoch(soon()), store.next_epoch(soon())}) {
        ASSERT_THAT(refused, fails_with(Code::failed_precondition));
        EXPECT_THAT(refused.error().message(), HasSubstr("set node.store.redis.cluster"));
      }
    }
    const RedisServer single;
    RedisStore::Options wrong = options();
    wrong.endpoints = {single.endpoint()};
    const auto refused = RedisStore(real.network, wrong).seal(bishop, 1, soon());
    ASSERT_THAT(refused, fails_with(Code::failed_precondition));
    EXPECT_THAT(refused.error().message(),
                HasSubstr("no member of a Redis Cluster: remove node.store.redis.cluster"));
  });
}

TEST_F(RedisClusterServerTest, AMemberThatIsAwayIsAskedForAtTheOthers) {
  run_on_real_loop([&](RealLoop& real) {
    start(real);
    RedisStore::Options some = options();
    some.endpoints = {{.host = "unix:/nowhere"}, second_.endpoint()};
    some.unreachable_after = 50ms;
    RedisStore store(real.network, some);
    ASSERT_TRUE(store.seal(bishop, 1, soon()));
    EXPECT_TRUE(store.next_epoch(soon()));
  });
}

}  // namespace
}  // namespace corolane::framework
