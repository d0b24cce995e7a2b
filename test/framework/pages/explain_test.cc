// SPDX-License-Identifier: MIT
// Why an object makes no progress, asked from any node: the way over nodes, objects and locks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "coroutine/sync/event.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/objects/detail/object_host.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/pages/pages.h"
#include "test/framework/puppet.h"
#include "test/framework/room.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::Puppet;
using test::PuppetClient;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using ExplainJson = nlohmann::json;

// Does not answer a write of one object.
class SilentStore final : public MemoryStore {
 public:
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object, Deadline deadline) override {
    if (key.id == silent_id) {
      coroutine::Event answer("an answer");
      if (auto waited = answer.wait(deadline); !waited) return waited;
    }
    return MemoryStore::write(key, epoch, version, object, deadline);
  }

  std::string silent_id;
};

// Three nodes, whose objects do what the test says for their ids.
class ExplainTest : public testing::Test {
 protected:
  void SetUp() override {
    strings_.run = [this](Puppet& puppet) {
      const auto role = roles_.find(puppet.id());
      return role == roles_.end() ? Result<void>() : role->second(puppet);
    };
    for (const char* const name : {"a", "b", "c"}) nodes_.push_back(make(name));
    EXPECT_TRUE(coroutine::sleep_for(5s));
  }
  void TearDown() override {
    calls_.cancel_and_join();
    nodes_.clear();
  }

  std::unique_ptr<test::PagedNode> make(const std::string& name) {
    auto directory = std::make_shared<test::FaultyDirectory>(table_);
    auto node = std::make_unique<test::PagedNode>(
        test::node_config(name), network_,
        Log(LogLevel::warning, [this](std::string_view line) { log_ += line; }),
        Node::Parts{.store = store_,
                    .directory = std::move(directory),
                    .clock = now,
                    .wall_clock = WallClock(WallTime(0s))});
    node->host<Puppet>([this](Shard&) { return std::make_unique<Puppet>(strings_); });
    node->host<test::Room>();
    node->host<test::Listener>();
    const auto started = node->start();
    EXPECT_TRUE(started) << started;
    return node;
  }

  // The id of an object that is active on that node, and does that from now on.
  std::string id_on(std::size_t number, const std::string& prefix,
                    std::function<Result<void>(Puppet& puppet)> role) {
    Node& node = *nodes_[number];
    for (int i = 0; i < 1'000; ++i) {
      const std::string id = prefix + std::to_string(i);
      EXPECT_TRUE(PuppetClient(node.router(), id).run({}));
      const auto* const type = node.shard().host()->find_type("corolane.test.Puppet");
      if (type->find(id) == nullptr) continue;
      roles_[id] = std::move(role);
      return id;
    }
    ADD_FAILURE() << "every object is active elsewhere";
    return {};
  }
  // The same of a room.
  std::string room_on(std::size_t number, const std::string& prefix) {
    for (int i = 0; i < 1'000; ++i) {
      const std::string id = prefix + std::to_string(i);
      EXPECT_TRUE(test::RoomClient(nodes_[number]->router(), id).look({}));
      const auto* const type = nodes_[number]->shard().host()->find_type("corolane.test.Room");
      if (type->find(id) != nullptr) return id;
    }
    ADD_FAILURE() << "every room is active elsewhere";
    return {};
  }
  static Result<void> call(Router& router, const std::string& id, Duration patience = 1h) {
    auto ran = PuppetClient(router, id).run({}, {.deadline = Deadline::after(patience)});
    return ran ? Result<void>() : ran.error();
  }
  void begin_call(const std::string& id, Duration patience = 1h, std::size_t from = 0) {
    EXPECT_TRUE(calls_.spawn("client", [this, id, patience, from] {
      errors_[id] = call(nodes_[from]->router(), id, patience);
    }));
  }

  ExplainJson explain(std::size_t asked, const std::string& id) {
    return test::json_page(network_, nodes_[asked]->endpoints().admin,
                           "/objects/Puppet/" + id + "?format=json");
  }
  std::string text(std::size_t asked, const std::string& target) {
    return test::fetch(network_, nodes_[asked]->endpoints().admin, target).body;
  }

  sim::SimulatedNetwork network_;
  LocalDirectory table_{1'000};
  std::shared_ptr<SilentStore> store_ = std::make_shared<SilentStore>();
  Puppet::Strings strings_;
  std::map<std::string, std::function<Result<void>(Puppet& puppet)>, std::less<>> roles_;
  std::string log_;
  coroutine::Mutex mutex_{"vault lock"};
  std::map<std::string, Result<void>> errors_;
  std::vector<std::unique_ptr<test::PagedNode>> nodes_;
  coroutine::TaskGroup calls_;
};

// A player on a waits for a guild on b; that waits for a lock, which an object holds that waits for
// the store. Node c is asked.
TEST_F(ExplainTest, AnyNodeFollowsTheWholeChain) {
  const auto vault = id_on(1, "vault", [this](Puppet& puppet) -> Result<void> {
    const std::scoped_lock held(mutex_);
    puppet.change().set_value(1);
    return puppet.save();
  });
  const auto guild = id_on(1, "guild", [this](Puppet&) -> Result<void> {
    const std::scoped_lock held(mutex_);
    return {};
  });
  const auto player =
      id_on(0, "player", [&](Puppet& puppet) { return call(puppet.router(), guild); });
  store_->silent_id = vault;
  begin_call(vault);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  begin_call(player);
  ASSERT_TRUE(coroutine::sleep_for(2s));

  const ExplainJson object = explain(2, player);
  EXPECT_THAT(object["verdict"].get<std::string>(),
              MatchesRegex(
                  "corolane.test.Puppet/Run runs for 2.0[0-9]+s, waits for Run of Puppet/" + guild +
                  " on node b, which runs Run for 2.0[0-9]+s, "
                  "waits for vault lock made at test/framework/pages/explain_test.cc:"
                  "[0-9]+, held by task [0-9]+ \"[^\"]*\" of Puppet/" +
                  vault +
                  ", which runs Run for 3.0[0-9]+s, waits for the store, which has not "
                  "answered its write for 3.0[0-9]+s\\. It ends with an answer of the "
                  "store, at the latest at a deadline in [0-9.]+s\\."));
  ASSERT_EQ(object["chain"].size(), 6u) << object["chain"].dump(2);
  EXPECT_EQ(object["chain"][0]["node"], "a");
  EXPECT_EQ(object["chain"][2]["node"], "b");
  EXPECT_EQ(object["chain"][5]["kind"], "store");
  EXPECT_EQ(object["owner"]["node"], "a");
  EXPECT_EQ(object["owner"]["is_here"], false);

  const std::string shown = text(2, "/objects/Puppet/" + player);
  EXPECT_THAT(shown, HasSubstr("\nowner    node a, shard 0, partition "));
  EXPECT_THAT(shown, ContainsRegex("\nWAITS ON +NODE +SHARD +TASK +STEP +TIME LEFT\n"));
  const std::string json = text(2, "/objects/Puppet/" + player + "?format=json");
  EXPECT_THAT(json.substr(0, 20), HasSubstr("\"verdict\": "));
}

TEST_F(ExplainTest, ATaskOutsideOfObjectsThatHoldsALockIsFollowedIntoItsCall) {
  const auto busy = id_on(2, "busy", [](Puppet&) { return coroutine::sleep_for(1h); });
  const auto locked = id_on(0, "locked", [this](Puppet&) -> Result<void> {
    const std::scoped_lock held(mutex_);
    return {};
  });
  ASSERT_TRUE(calls_.spawn("season", [&] {
    const std::scoped_lock held(mutex_);
    static_cast<void>(call(nodes_[0]->router(), busy));
  }));
  ASSERT_TRUE(coroutine::yield());
  begin_call(locked);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(
      explain(1, locked)["verdict"].get<std::string>(),
      ContainsRegex("waits for vault lock made at .*, held by task [0-9]+ \"season\", which "
                    "waits for Run of Puppet/" +
                    busy +
                    " on node c, which runs Run for "
                    "1.0[0-9]+s, waits for sleep\\. It ends with the end of the sleep"));
}

TEST_F(ExplainTest, ANodeOnTheWayThatDoesNotAnswerIsALine) {
  const auto far = id_on(1, "far", [](Puppet&) { return coroutine::sleep_for(1h); });
  const auto near = id_on(0, "near", [&](Puppet& puppet) { return call(puppet.router(), far); });
  begin_call(near);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  network_.set_latency(2s);
  const TimePoint begin = now();
  auto page = nodes_[0]->admin().get("/objects/Puppet/" + near);
  EXPECT_LE(now() - begin, 600ms);
  EXPECT_THAT(page.body, HasSubstr("waits for Run of Puppet/" + far +
                                   " on node b, which has not answered within 0.5s"));
  page = nodes_[2]->admin().get("/objects/Puppet/" + near);
  EXPECT_THAT(page.body, HasSubstr(": node a owns it, and has not answered within 0.5s\n"));
}

// The lock is held by an object that waits for the object which waits for the lock.
TEST_F(ExplainTest, ACycleOverALockIsTold) {
  std::string second;
  const auto first = id_on(0, "first", [&](Puppet& puppet) {
    const std::scoped_lock held(mutex_);
    static_cast<void>(coroutine::sleep_for(1s));
    return call(puppet.router(), second, 20s);
  });
  second = id_on(0, "second", [this](Puppet&) -> Result<void> {
    static_cast<void>(coroutine::sleep_for(1s));
    const std::scoped_lock held(mutex_);
    return {};
  });
  begin_call(first, 30s);
  begin_call(second, 30s);
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_THAT(explain(1, first)["verdict"].get<std::string>(), HasSubstr("a cycle. It ends with"));

  const std::string cycle = "corolane.test.Puppet(\\\"" + first +
                            "\\\") -> corolane.test.Puppet(\\\"" + second +
                            "\\\") -> corolane.test.Puppet(\\\"" + first + "\\\")";
  EXPECT_THAT(log_, HasSubstr("objects wait for one another"));
  EXPECT_THAT(log_, HasSubstr(cycle));
  EXPECT_EQ(log_.find("objects wait"), log_.rfind("objects wait")) << log_;
  ASSERT_TRUE(coroutine::sleep_for(15s));
  ASSERT_FALSE(errors_[first]);
  EXPECT_EQ(errors_[first].error().code(), Code::deadline_exceeded);
  EXPECT_THAT(errors_[first].error().message(), HasSubstr("it waited in a cycle: corolane.test"));
}

// Other calls wait all the time.
TEST_F(ExplainTest, ACycleThatComesBackIsAnnouncedAgain) {
  std::string second;
  const auto first = id_on(0, "first", [&](Puppet& puppet) {
    const std::scoped_lock held(mutex_);
    static_cast<void>(coroutine::sleep_for(1s));
    return call(puppet.router(), second, 10s);
  });
  second = id_on(0, "second", [this](Puppet&) -> Result<void> {
    static_cast<void>(coroutine::sleep_for(1s));
    const std::scoped_lock held(mutex_);
    return {};
  });
  const auto slow = id_on(0, "slow", [](Puppet&) { return coroutine::sleep_for(1h); });
  begin_call(slow);
  begin_call(slow);
  for (int i = 0; i < 2; ++i) {
    begin_call(first, 15s);
    begin_call(second, 15s);
    ASSERT_TRUE(coroutine::sleep_for(3min));
    begin_call(slow);
    ASSERT_TRUE(coroutine::sleep_for(10s));
  }
  const std::size_t told = log_.find("objects wait");
  ASSERT_NE(told, std::string::npos);
  EXPECT_NE(log_.find("objects wait", told + 1), std::string::npos) << log_;
}

// The owner answers at once; the asked node follows the waits.
TEST_F(ExplainTest, AnOwnerIsNotBlamedForTheNodesOnTheWay) {
  const auto last = id_on(2, "last", [](Puppet&) { return coroutine::sleep_for(1h); });
  const auto middle =
      id_on(1, "middle", [&](Puppet& puppet) { return call(puppet.router(), last); });
  const auto first =
      id_on(0, "first", [&](Puppet& puppet) { return call(puppet.router(), middle); });
  begin_call(first);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  network_.set_latency(60ms);  // Of new connections, which cost three round trips.
  const auto far = nlohmann::json::parse(
      nodes_[2]->admin().get("/objects/Puppet/" + first + "?format=json").body);
  ASSERT_GT(far["chain"].size(), 4u) << far.dump(2);
  EXPECT_EQ(far["chain"][4]["node"], "c");
  EXPECT_THAT(far["verdict"].get<std::string>(),
              HasSubstr("waits for Run of Puppet/" + middle + " on node b, which runs Run for "));
  EXPECT_FALSE(far.contains("verdict_parts"));
}

// A task of it calls, and its callee calls it back and gets the turn.
TEST_F(ExplainTest, AnObjectThatCallsWithoutItsTurnIsInNoCycle) {
  std::string host;
  const auto guest = id_on(0, "guest", [&](Puppet& puppet) {
    static_cast<void>(coroutine::sleep_for(100ms));
    return call(puppet.router(), host);
  });
  bool is_called_back = false;
  host = id_on(0, "host", [&](Puppet& puppet) -> Result<void> {
    if (std::exchange(is_called_back, true)) return coroutine::sleep_for(1h);
    coroutine::TaskGroup group;
    EXPECT_TRUE(group.spawn("ask", [&] { static_cast<void>(call(puppet.router(), guest)); }));
    EXPECT_TRUE(coroutine::yield());
    return puppet.outside([&] { return group.join(Deadline::never()); });
  });
  begin_call(host);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(text(1, "/waits"), HasSubstr("3 calls of objects wait; 0 cycles\n"));
}

// Three, since two chains that wait for each other are told at once.
TEST_F(ExplainTest, ACycleOverNodesIsAnnouncedOnceAndExplainsTheErrors) {
  std::map<std::string, std::string> next;
  const auto role = [&](Puppet& puppet) { return call(puppet.router(), next[puppet.id()], 20s); };
  const auto on_a = id_on(0, "one", role);
  const auto on_b = id_on(1, "two", role);
  const auto on_c = id_on(2, "three", role);
  next = {{on_a, on_b}, {on_b, on_c}, {on_c, on_a}};
  network_.set_latency(20ms);
  begin_call(on_a, 30s, 0);
  begin_call(on_b, 30s, 1);
  begin_call(on_c, 30s, 2);
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_NE(log_.find("objects wait"), std::string::npos) << log_;
  EXPECT_EQ(log_.find("objects wait"), log_.rfind("objects wait")) << log_;
  std::string metrics;
  for (std::size_t i = 0; i < nodes_.size(); ++i) metrics += text(i, "/metrics");
  EXPECT_THAT(metrics, HasSubstr("\ncorolane_node_wait_cycles_total 1\n"));
  ASSERT_TRUE(coroutine::sleep_for(15s));
  for (const auto& [id, other] : next) {
    ASSERT_FALSE(errors_[id]);
    EXPECT_THAT(errors_[id].error().message(), HasSubstr("it waited in a cycle: ")) << id;
  }
}

TEST_F(ExplainTest, ObjectsThatWaitWithoutACycleAreNotAnnounced) {
  const auto slow = id_on(0, "slow", [](Puppet&) { return coroutine::sleep_for(20s); });
  for (int i = 0; i < 10; ++i) begin_call(slow);
  ASSERT_TRUE(coroutine::sleep_for(30s));
  EXPECT_EQ(log_, "");
}

TEST_F(ExplainTest, LocksAndOtherWaitsAreOnThePageOfWaits) {
  coroutine::Event door("a door");
  ASSERT_TRUE(calls_.spawn("holder", [&] {
    const std::scoped_lock held(mutex_);
    static_cast<void>(door.wait(Deadline::never()));
  }));
  ASSERT_TRUE(coroutine::yield());
  const auto locked = id_on(0, "locked", [this](Puppet&) -> Result<void> {
    const std::scoped_lock held(mutex_);
    return {};
  });
  begin_call(locked);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const std::string shown = text(2, "/waits");
  EXPECT_THAT(shown, ContainsRegex("\nWAITING +LOCK +MADE AT +HELD BY +SINCE +NODE +TASK\n"
                                   "corolane.test.Puppet\\(\"" +
                                   locked +
                                   "\"\\) +vault lock +"
                                   "test/framework/pages/explain_test.cc:[0-9]+ +task [0-9]+ "
                                   "\"holder\" on a +1\\.0[0-9]+s +a +"));
  EXPECT_THAT(shown, ContainsRegex("\na door +test/framework/pages/explain_test.cc:[0-9]+ +task +1 "
                                   "+1\\.0[0-9]+s +holder +a\n"));
  door.set();
}

TEST_F(ExplainTest, TheClusterIsOnOnePage) {
  const auto slow = id_on(1, "slow", [](Puppet&) { return coroutine::sleep_for(1h); });
  begin_call(slow);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const ExplainJson page =
      test::json_page(network_, nodes_[2]->endpoints().admin, "/cluster?format=json");
  ASSERT_EQ(page["members"].size(), 3u);
  for (const ExplainJson& member : page["members"]) EXPECT_EQ(member["state"], "serving");
  EXPECT_EQ(page["waits"][0]["for"], "corolane.test.Puppet(\"" + slow + "\")");
  EXPECT_EQ(page["waits"][0]["node"], "b");
  EXPECT_EQ(page["methods"][0]["nodes"], 3);
  EXPECT_THAT(text(0, "/cluster"),
              ContainsRegex("\nTYPE +NODE +ACTIVE .*\ncorolane.test.Puppet +"));
}

TEST_F(ExplainTest, TheOneThatHoldsTheLockIsFollowedAmongTheVisitorsOfItsObject) {
  const auto vault = id_on(1, "vault", [this](Puppet& puppet) -> Result<void> {
    coroutine::Event never("the harvest");
    return puppet.outside([&]() -> Result<void> {
      const std::scoped_lock held(mutex_);
      return never.wait(Deadline::after(1h));
    });
  });
  begin_call(vault);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  roles_[vault] = [](Puppet&) { return coroutine::sleep_for(1h); };
  const auto guild = id_on(1, "guild", [this](Puppet&) -> Result<void> {
    const std::scoped_lock held(mutex_);
    return {};
  });
  begin_call(vault);  // Inside, and holds nothing.
  begin_call(guild);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(explain(2, guild)["verdict"].get<std::string>(),
              ContainsRegex("held by task [0-9]+ \"[^\"]*\" of Puppet/" + vault +
                            ", which waits in Run, without a turn for [0-9.]+s, "
                            "waits for the harvest made at .*\\. It ends with the harvest"));
}

TEST_F(ExplainTest, AnObjectThatWaitsForAPublicationIsFollowedToItsPublisher) {
  const auto lobby = room_on(1, "lobby");
  const auto fan = id_on(0, "fan", [&](Puppet& puppet) -> Result<void> {
    auto events = test::RoomClient(puppet.router(), lobby).subscribe();
    for (;;) {
      if (auto event = events.next(Deadline::after(1h)); !event) return event.error();
    }
  });
  begin_call(fan);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(explain(2, fan)["verdict"].get<std::string>(),
              MatchesRegex(".* runs for 1.0[0-9]+s, waits for a publication of Room/" + lobby +
                           " on node b, which is idle\\. "
                           "It ends with a publication of Room/" +
                           lobby + ", at the latest at a deadline in .*s\\."));

  ASSERT_TRUE(calls_.spawn("speaker", [&] {
    auto request = test::say_request("wait");
    request.set_pause_milliseconds(60'000);
    static_cast<void>(test::RoomClient(nodes_[0]->router(), lobby).say(request));
  }));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(explain(2, fan)["verdict"].get<std::string>(),
              ContainsRegex("waits for a publication of Room/" + lobby +
                            " on node b, which runs Say for 1.0[0-9]+s, waits for sleep\\. "
                            "It ends with the end of the sleep in 5[89]"));
}

TEST_F(ExplainTest, AHandlerOfAPublicationNamesThePublisher) {
  const auto lobby = room_on(1, "lobby");
  test::ListenRequest request;
  request.set_room(lobby);
  request.set_pause_milliseconds(60'000);
  test::ListenerClient ear(nodes_[0]->router(), "ear");
  ASSERT_TRUE(ear.listen(request));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  ASSERT_TRUE(test::RoomClient(nodes_[0]->router(), lobby).say(test::say_request("hi")));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  const ExplainJson page =
      test::json_page(network_, nodes_[2]->endpoints().admin, "/objects/Listener/ear?format=json");
  EXPECT_THAT(page["chain"][0]["text"].get<std::string>(),
              MatchesRegex("handles a publication of Room/" + lobby + " for 2.0[0-9]+s"));
}

TEST_F(ExplainTest, AReminderIsNamedWhileItRunsAndWhileItIsAwaited) {
  const auto wall = id_on(1, "wall", [](Puppet& puppet) -> Result<void> {
    COROLANE_TRY(puppet.reminders().at("harvest", puppet.wall_clock().now() + 10s));
    const auto came = puppet.wait_until([] { return false; }, Deadline::after(1min));
    return came ? Result<void>() : came.error();
  });
  strings_.on_reminder = [](Puppet&, const Reminder&) { return coroutine::sleep_for(5s); };
  begin_call(wall);
  ASSERT_TRUE(coroutine::sleep_for(3s));
  EXPECT_THAT(
      explain(2, wall)["verdict"].get<std::string>(),
      ContainsRegex(
          "Run is outside of its turn for 3.0[0-9]+s, waits for a change of itself\\. It ends "
          "with another call of Puppet/" +
          wall +
          ", or its reminder \"harvest\" in [67][.0-9]+s, at the latest at a "
          "deadline in "));
  ASSERT_TRUE(coroutine::sleep_for(9s));
  EXPECT_THAT(
      explain(2, wall)["verdict"].get<std::string>(),
      ContainsRegex("runs its reminder \"harvest\" for [0-9.]+s, waits for sleep\\. It ends "
                    "with the end of the sleep in "));
}

TEST_F(ExplainTest, EachMemberHasTheFiguresOfItsLastSeconds) {
  for (auto& node : nodes_) node->keep_history();
  const auto slow = id_on(1, "slow", [](Puppet&) { return coroutine::sleep_for(300ms); });
  ASSERT_TRUE(coroutine::sleep_for(3s));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(call(nodes_[0]->router(), slow));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const ExplainJson page =
      test::json_page(network_, nodes_[2]->endpoints().admin, "/cluster?format=json");
  const ExplainJson& callee = page["members"][1];
  EXPECT_NEAR(callee["calls_per_second"].get<double>(), 4.0 / 5, 0.3);
  EXPECT_EQ(callee["errors_per_second"], 0.0);
  EXPECT_EQ(callee["refusals_per_second"], 0.0);
  EXPECT_NEAR(callee["p99_seconds"].get<double>(), 0.3, 0.03);
  EXPECT_GT(callee["memory_bytes"].get<double>(), 1e6);
  EXPECT_GE(callee["cpu"].get<double>(), 0.0);
  EXPECT_LT(callee["loop_delay_seconds"].get<double>(), 0.4);
  EXPECT_TRUE(page["members"][0]["p99_seconds"].is_null()) << page["members"][0];
  EXPECT_THAT(text(0, "/cluster"), ContainsRegex("^MEMBER .* CALLS/S +ERRORS/S .* P99 +CPU +MEM"));
}

TEST_F(ExplainTest, ANodeThatDoesNotAnswerIsARowOfTheCluster) {
  network_.set_latency(2s);
  const TimePoint begin = now();
  const std::string shown = nodes_[0]->admin().get("/cluster").body;
  EXPECT_LE(now() - begin, 600ms);
  EXPECT_THAT(shown, ContainsRegex("\na +serving "));
  EXPECT_THAT(shown, ContainsRegex("\nb +not answering .* has not answered within 0.5s\n"));
}

}  // namespace
}  // namespace corolane::framework
