// SPDX-License-Identifier: MIT
// Subscriptions over several nodes, in one thread and virtual time: the nodes share a directory and
// a store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "framework/directory/local_directory.h"
#include "framework/node/inspection.corolane.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/push_hub.h"
#include "framework/store/memory_store.h"
#include "framework/wire/push.corolane.h"
#include "net/testing/network.h"
#include "rpc/server/server.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/room.h"
#include "test/framework/room_mirror.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::FaultyDirectory;
using test::RoomClient;
using test::RoomMirror;
using test::RoomNews;
using test::say_request;
using test::WatchClient;
using testing::IsEmpty;

constexpr int room_count = 40;

class NodeSubscriptionsTest : public testing::Test {
 protected:
  struct Member {
    std::shared_ptr<FaultyDirectory> directory;
    std::unique_ptr<Node> node;

    RoomClient room(const std::string& id) const { return {node->router(), id}; }
    // Whether the room with that id is active on this node.
    bool has_room(const std::string& id) const {
      const auto* const type = node->shard().host()->find_type("corolane.test.Room");
      return type->find(id) != nullptr;
    }
  };

  // Subscribers on one node that follow all rooms, several times each.
  class Crowd {
   public:
    Crowd(const Member& from, int per_room) {
      for (int i = 0; i < room_count * per_room; ++i) {
        auto& mirror = mirrors_.emplace_back(from.node->router(), std::to_string(i % room_count));
        auto spawned = tasks_.spawn("mirror", [this, &mirror] {
          if (auto run = mirror.run(); run.error().code() != Code::cancelled) {
            endings.push_back(run.error().to_string());
          }
        });
        EXPECT_TRUE(spawned);
      }
    }

    // Suspends, and expects that every subscriber has caught up with its room.
    void expect_all_heard(const Member& from) {
      EXPECT_TRUE(coroutine::sleep_for(1s));
      int i = 0;
      for (const RoomMirror& mirror : mirrors_) {
        EXPECT_THAT(mirror.failures, IsEmpty());
        const std::string id = std::to_string(i++ % room_count);
        const auto picture = from.room(id).look({}, {.deadline = Deadline::after(30s)});
        ASSERT_TRUE(picture) << picture;
        EXPECT_EQ(mirror.said_count, picture->said_count()) << "in room " << id;
      }
      EXPECT_THAT(endings, IsEmpty());
    }
    std::uint64_t sum_of(std::uint64_t RoomMirror::* count) const {
      std::uint64_t sum = 0;
      for (const RoomMirror& mirror : mirrors_) sum += mirror.*count;
      return sum;
    }

    std::vector<std::string> endings;

   private:
    std::list<RoomMirror> mirrors_;
    coroutine::TaskGroup tasks_;
  };

  // Says something in all rooms, one after the other, until stop().
  class Talk {
   public:
    explicit Talk(const Member& from, Duration pause = 200us)
        : task_(coroutine::spawn("talk", [this, &from, pause] {
            for (int i = 0; !is_over_; ++i) {
              const auto said = from.room(std::to_string(i % room_count))
                                    .say(say_request("hello"), {.deadline = Deadline::after(30s)});
              if (!said) failures_.push_back(said.error().to_string());
              if (!coroutine::sleep_for(pause)) return;
            }
          })) {}

    // Returns the errors of the calls.
    std::vector<std::string> stop() {
      is_over_ = true;
      EXPECT_TRUE(task_.join(Deadline::never()));
      return failures_;
    }

   private:
    bool is_over_ = false;
    std::vector<std::string> failures_;
    coroutine::Task<void> task_;
  };

  Member make(const std::string& name) {
    Member member{.directory = std::make_shared<FaultyDirectory>(table_), .node = nullptr};
    member.node = std::make_unique<Node>(
        test::node_config(name), network_, Log(LogLevel::error, [](std::string_view) {}),
        Node::Parts{.store = store_, .directory = member.directory, .clock = now});
    member.node->host<test::Room>();
    member.node->host<test::Listener>();
    member.node->serve(
        [](Shard& shard) { return std::make_unique<test::WatchService>(shard.router()); });
    const auto started = member.node->start();
    EXPECT_TRUE(started) << started;
    return member;
  }
  // The id of a room that is active on that node.
  static std::string room_on(const Member& member) {
    for (int i = 0; i < 1'000; ++i) {
      const std::string id = std::to_string(i);
      EXPECT_TRUE(member.room(id).look({}));
      if (member.has_room(id)) return id;
    }
    ADD_FAILURE() << "no room is active there";
    return "";
  }

  sim::SimulatedNetwork network_;
  LocalDirectory table_{1'000};
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

TEST_F(NodeSubscriptionsTest, RoomsOfAllNodesAreHeardOnEach) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  Crowd on_a(a, 2);
  Crowd on_b(b, 2);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  Talk talk(a);
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_THAT(talk.stop(), IsEmpty());
  for (auto* crowd : {&on_a, &on_b}) {
    crowd->expect_all_heard(a);
    EXPECT_GT(crowd->sum_of(&RoomMirror::event_count), 5'000U);
    EXPECT_EQ(crowd->sum_of(&RoomMirror::moved_count), 0U);
    EXPECT_EQ(crowd->sum_of(&RoomMirror::behind_count), 0U);
  }
}

TEST_F(NodeSubscriptionsTest, AllSubscribersOfAShardShareOneOutlet) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const std::string id = room_on(b);
  std::list<Subscription<test::RoomEvent>> subscriptions;
  for (int i = 0; i < 3'000; ++i) {
    ASSERT_TRUE(subscriptions.emplace_back(a.room(id).subscribe()).next(Deadline::after(1s)));
  }
  EXPECT_EQ(b.node->rpc_server().statistics().stream_count, 1U);
  ASSERT_TRUE(a.room(id).say(say_request("hello", 100)));
  for (auto& subscription : subscriptions) {
    for (std::uint64_t i = 1; i <= 100; ++i) {
      const auto event = subscription.next(Deadline::after(1s));
      ASSERT_TRUE(event) << event;
      ASSERT_FALSE(event->is_gap());
      ASSERT_EQ((*event)->number(), i);
    }
  }
  EXPECT_EQ(b.node->shard().push().outlets().statistics().count, 1U);
  subscriptions.clear();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(b.node->shard().push().outlets().statistics().count, 0U);
}

TEST_F(NodeSubscriptionsTest, ThousandsOfRoomsAreFollowedOverOneConnection) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  std::list<Subscription<test::RoomEvent>> subscriptions;
  for (int i = 0; i < 4'000; ++i) {
    auto& subscription = subscriptions.emplace_back(a.room(std::to_string(i)).subscribe());
    const auto begun = subscription.next(Deadline::after(1s));
    ASSERT_TRUE(begun) << begun;
  }
  EXPECT_EQ(b.node->rpc_server().statistics().stream_count, 1U);
  int i = 0;
  for (auto& subscription : subscriptions) {
    ASSERT_TRUE(b.room(std::to_string(i++)).say(say_request("hello")));
    const auto event = subscription.next(Deadline::after(1s));
    ASSERT_TRUE(event) << event;
    EXPECT_FALSE(event->is_gap());
  }
}

TEST_F(NodeSubscriptionsTest, AHandOverLosesNoEarlierPublication) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  Crowd on_a(a, 1);
  Crowd on_b(b, 1);
  Talk talk(a);
  auto c = make("c");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  Crowd on_c(c, 1);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_TRUE(b.node->stop(Deadline::after(5s)));
  ASSERT_TRUE(coroutine::sleep_for(3s));
  EXPECT_THAT(talk.stop(), IsEmpty());
  for (auto* crowd : {&on_a, &on_c}) crowd->expect_all_heard(a);
  EXPECT_GT(on_a.sum_of(&RoomMirror::moved_count), room_count / 4U);
  // Subscribers on a node that stops get that error.
  ASSERT_EQ(on_b.endings.size(), static_cast<std::size_t>(room_count));
  for (const std::string& ending : on_b.endings) EXPECT_EQ(ending, "unavailable: the node stops");
}

TEST_F(NodeSubscriptionsTest, AfterACrashASubscriptionFollowsTheObject) {
  auto a = make("a");
  auto b = make("b");
  auto c = make("c");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  Crowd on_a(a, 2);
  Crowd on_c(c, 1);
  Talk talk(a, 2ms);
  ASSERT_TRUE(coroutine::sleep_for(2s));
  b.directory->cut();
  ASSERT_TRUE(coroutine::sleep_for(20s));
  b.directory->mend();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  talk.stop();
  on_a.expect_all_heard(a);
  on_c.expect_all_heard(c);
  EXPECT_GT(on_a.sum_of(&RoomMirror::moved_count), room_count / 4U);
}

TEST_F(NodeSubscriptionsTest, ADyingNodeEndsNoSubscriptionElsewhere) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  Crowd on_a(a, 2);
  Talk talk(a, 2ms);
  ASSERT_TRUE(coroutine::sleep_for(2s));
  b.directory->cut();
  b.node.reset();
  ASSERT_TRUE(coroutine::sleep_for(20s));
  talk.stop();
  on_a.expect_all_heard(a);
  EXPECT_GT(on_a.sum_of(&RoomMirror::moved_count), room_count / 4U);
}

TEST_F(NodeSubscriptionsTest, TheOrderHoldsWhileOwnersComeAndGo) {
  std::map<std::string, Member> members;
  for (const char* name : {"a", "b", "c"}) members.emplace(name, make(name));
  ASSERT_TRUE(coroutine::sleep_for(10s));
  Crowd on_a(members["a"], 2);
  Talk talk(members["a"], 2ms);
  for (int round = 0; round < 4; ++round) {
    const std::string name = round % 2 == 0 ? "b" : "c";
    Member& member = members[name];
    if (round < 2) {
      EXPECT_TRUE(member.node->stop(Deadline::after(5s)));
    } else {
      member.directory->cut();
      ASSERT_TRUE(coroutine::sleep_for(10s));
    }
    member.node.reset();
    ASSERT_TRUE(coroutine::sleep_for(1s));
    member = make(name);
    ASSERT_TRUE(coroutine::sleep_for(5s));
  }
  talk.stop();
  on_a.expect_all_heard(members["a"]);
}

TEST_F(NodeSubscriptionsTest, AClientWatchesARoomOfAnotherNode) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const std::string id = room_on(b);
  const auto client = test::connect(network_, *a.node);
  test::WatchRequest request;
  request.set_room(id);
  auto news = WatchClient(*client).watch(request, {.deadline = Deadline::never()});
  RoomNews one;
  ASSERT_TRUE(news.read(one));
  EXPECT_TRUE(one.has_picture());
  ASSERT_TRUE(b.room(id).say(say_request("hello", 3)));
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(news.read(one));
    EXPECT_EQ(one.event().number(), i);
  }
  EXPECT_THAT(news.finish(), fails_with(Code::cancelled));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(a.node->shard().push().feeds().statistics().object_count, 0U);
}

TEST_F(NodeSubscriptionsTest, AWatchingClientDoesNotDelayAStoppingNode) {
  auto a = make("a");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const auto client = test::connect(network_, *a.node);
  test::WatchRequest request;
  request.set_room("1");
  auto news = WatchClient(*client).watch(request, {.deadline = Deadline::never()});
  RoomNews one;
  ASSERT_TRUE(news.read(one));
  auto reading = coroutine::spawn("reading", [&] {
    while (news.read(one)) {
    }
    return news.finish();
  });
  const TimePoint start = now();
  EXPECT_TRUE(a.node->stop(Deadline::after(1min)));
  EXPECT_LT(now() - start, 3s);
  EXPECT_THAT(reading.join(Deadline::never()), fails_with(Code::unavailable));
}

TEST_F(NodeSubscriptionsTest, AClientThatReadsNothingDelaysNoOtherAndGetsAPicture) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const std::string id = room_on(b);
  const auto client = test::connect(network_, *a.node);
  test::WatchRequest request;
  request.set_room(id);
  auto slow = WatchClient(*client).watch(request, {.deadline = Deadline::never()});
  auto fast = WatchClient(*client).watch(request, {.deadline = Deadline::never()});
  RoomNews one;
  ASSERT_TRUE(slow.read(one));
  ASSERT_TRUE(fast.read(one));
  const std::string text(1'000, 'x');
  for (std::uint64_t i = 1; i <= 2'000; ++i) {
    ASSERT_TRUE(b.room(id).say(say_request(text)));
    ASSERT_TRUE(fast.read(one));
    ASSERT_EQ(one.event().number(), i);
  }
  // One window, the messages in flight, and then a picture in place of the rest.
  std::uint64_t said_count = 0;
  std::uint64_t read_count = 0;
  std::uint64_t picture_count = 0;
  while (said_count < 2'000) {
    ASSERT_TRUE(slow.read(one));
    ++read_count;
    if (one.has_picture()) ++picture_count;
    said_count = one.has_picture() ? one.picture().said_count() : one.event().number();
  }
  EXPECT_EQ(picture_count, 1U);
  EXPECT_LT(read_count, 500U);
}

TEST_F(NodeSubscriptionsTest, ANodeThatDoesNotReadDelaysNoOther) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const std::string id = room_on(b);
  RoomMirror on_a(a.node->router(), id);
  RoomMirror on_b(b.node->router(), id);
  ASSERT_TRUE(on_a.follow(Deadline::after(1s)));
  ASSERT_TRUE(on_b.follow(Deadline::after(1s)));
  const std::string text(10'000, 'x');
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(b.room(id).say(say_request(text)));
    ASSERT_TRUE(on_b.follow(Deadline::after(1s)));
  }
  ASSERT_TRUE(coroutine::sleep_for(1s));
  while (on_a.follow(Deadline::passed())) {
  }
  EXPECT_EQ(on_a.said_count, 1'000U);
  EXPECT_GT(on_a.behind_count, 0U);
  EXPECT_EQ(on_b.behind_count, 0U);
  EXPECT_THAT(on_a.failures, IsEmpty());
  EXPECT_THAT(on_b.failures, IsEmpty());
}

TEST_F(NodeSubscriptionsTest, ObjectsHearRoomsOfOtherNodes) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  test::ListenRequest request;
  for (int i = 0; i < 10; ++i) {
    request.set_room(std::to_string(i));
    ASSERT_TRUE(test::ListenerClient(a.node->router(), "l").listen(request));
  }
  ASSERT_TRUE(coroutine::sleep_for(1s));
  std::vector<std::string> expected;
  for (int i = 0; i < 10; ++i) {
    expected.push_back(std::to_string(i));
    ASSERT_TRUE(b.room(std::to_string(i)).say(say_request(expected.back())));
    ASSERT_TRUE(coroutine::sleep_for(10ms));
  }
  const auto heard = test::ListenerClient(b.node->router(), "l").heard({});
  ASSERT_TRUE(heard) << heard;
  EXPECT_THAT(heard->texts(), testing::ElementsAreArray(expected));
  EXPECT_EQ(heard->gap_count(), 10U);
}

TEST_F(NodeSubscriptionsTest, APeerThatIsNotANodeIsRefused) {
  auto a = make("a");
  AttachRequest request;
  request.set_type("corolane.test.Room");
  const auto attach = [&](rpc::Client& client, const rpc::ObjectTarget& target) {
    return PushClient(client).attach(request, {.deadline = Deadline::after(1s), .object = &target});
  };
  const net::Endpoint& cluster = a.node->endpoints().cluster.front();
  const auto node =
      rpc::Client::connect(network_, {cluster.address, cluster.port}, Deadline::after(1s),
                           {.security = {.cluster = "corolane"}});
  ASSERT_TRUE(node) << node;
  EXPECT_THAT(attach(**node, {.id = "1"}), fails_with(Code::invalid_argument));
  EXPECT_THAT(attach(**node, {.id = "1", .node_epoch = 1}), fails_with(Code::invalid_argument))
      << "no line is named";
  request.mutable_line()->set_number(1);
  request.set_door(1);
  EXPECT_THAT(attach(**node, {.id = "1", .node_epoch = 1}), fails_with(Code::invalid_argument))
      << "there is no such shard";
  // Clients do not see that method, whatever identity they claim.
  const auto client = test::connect(network_, *a.node);
  EXPECT_THAT(attach(*client, {.id = "1", .node_epoch = 1}), fails_with(Code::unimplemented));
  EXPECT_THAT(InspectionClient(*client).waits({}), fails_with(Code::unimplemented));
}

}  // namespace
}  // namespace corolane::framework
