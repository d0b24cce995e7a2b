// SPDX-License-Identifier: MIT
// The pages of a node with several threads, on the real loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coroutine/task_group.h"
#include "framework/node/node.h"
#include "framework/telemetry/log.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/counter.h"
#include "test/framework/crowd.h"
#include "test/framework/pages/pages.h"
#include "test/framework/slow_service.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::Counter;
using test::CounterClient;
using test::Crowd;
using test::SlowService;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;
using Json = nlohmann::json;

class Pages {
 public:
  Pages(Node& node, net::Network& network) : node_(node), network_(network) {}

  net::HttpResponse get(const std::string& target) {
    return test::fetch(network_, node_.endpoints().admin, target);
  }
  Json json(const std::string& target) {
    return test::json_page(network_, node_.endpoints().admin, target);
  }

 private:
  Node& node_;
  net::Network& network_;
};

// Runs `body` with a node of three shards that serves counters and the slow service.
template <typename Service = SlowService, typename F>
void with_pages(F&& body) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    NodeConfig config = test::node_config("several");
    config.shards = 3;
    test::PagedNode node(config, real.network, Log(LogLevel::error));
    node.host<Counter>();
    node.serve([](Shard&) { return std::make_unique<Service>(); });
    const auto started = node.start();
    ASSERT_TRUE(started) << started;
    body(node, Pages(node, real.network), real.network);
    EXPECT_TRUE(node.stop(test::soon()));
  });
}

std::uint64_t sum_of(const Json& rows, const char* key) {
  std::uint64_t sum = 0;
  for (const Json& row : rows) sum += row[key].get<std::uint64_t>();
  return sum;
}

// The tasks that wait for a move, by id.
std::map<std::string, Json> spectators(const Json& tasks) {
  std::map<std::string, Json> found;
  for (const Json& task : tasks) {
    if (task["waiting_for"] != "a move") continue;
    found.emplace(task["id"].is_string() ? task["id"].get<std::string>() : task["id"].dump(), task);
  }
  return found;
}

class BrokenService : public test::SlowBase {
 public:
  Result<test::WaitReply> wait(const test::WaitRequest&, rpc::Context&) override {
    return Error(Code::internal, "broken on purpose");
  }
};

TEST(PagesOfShardsTest, FaultsOfTheServerAreAddedUp) {
  with_pages<BrokenService>([](Node& node, Pages pages, net::Network& network) {
    std::vector<std::unique_ptr<rpc::Client>> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(test::connect(network, node));
      EXPECT_FALSE(test::SlowClient(*clients.back()).wait(test::wait_request(0ms)));
    }
    const Json stats = pages.json("/stats")["rpc"]["methods"]["corolane.test.Slow/Wait"];
    EXPECT_EQ(stats["errors"], 20);
    EXPECT_EQ(stats["faults"], 20);
  });
}

TEST(PagesOfShardsTest, StatsAreAddedUpAndShowEachShard) {
  with_pages([](Node& node, Pages pages, net::Network& network) {
    std::vector<std::unique_ptr<rpc::Client>> clients;
    for (int i = 0; i < 20; ++i) clients.push_back(test::connect(network, node));
    for (auto& client : clients) {
      ASSERT_TRUE(test::SlowClient(*client).wait(test::wait_request(1ms)));
    }
    const Json stats = pages.json("/stats");
    EXPECT_EQ(stats["rpc"]["connections"], 20);
    EXPECT_EQ(stats["rpc"]["methods"]["corolane.test.Slow/Wait"]["calls"], 20);
    EXPECT_EQ(stats["rpc"]["methods"]["corolane.test.Slow/Wait"]["latency_us"]["count"], 20);
    EXPECT_GT(stats["stack_pool"]["in_use"], 3);
    const Json& shards = stats["shards"];
    ASSERT_EQ(shards.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(shards[i]["shard"], i);
    EXPECT_EQ(sum_of(shards, "tasks"), stats["coroutine"]["tasks"]);
    EXPECT_EQ(sum_of(shards, "switches"), stats["coroutine"]["switches"]);
    EXPECT_EQ(sum_of(shards, "connections"), 20U);
    EXPECT_EQ(sum_of(shards, "running_calls"), 0U);
  });
}

TEST(PagesOfShardsTest, ObjectsAreThoseOfAllShards) {
  with_pages([](Node& node, Pages pages, net::Network&) {
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(CounterClient(node.router(), std::to_string(i)).get({}));
    }
    const Json type = pages.json("/objects?format=json")["types"][0];
    EXPECT_EQ(type["active"], 300);
    EXPECT_EQ(type["activations"], 300);
    EXPECT_EQ(type["partitions"], 1024);
    const Json shards = pages.json("/stats")["shards"];
    EXPECT_EQ(sum_of(shards, "active_objects"), 300U);
    for (const Json& shard : shards) EXPECT_GT(shard["active_objects"], 0);
    const std::string metrics = pages.get("/metrics").body;
    EXPECT_THAT(metrics,
                HasSubstr("\ncorolane_objects_active{type=\"corolane.test.Counter\"} 300\n"));
    EXPECT_THAT(metrics, HasSubstr("\ncorolane_cluster_partitions 1024\n"));
  });
}

TEST(PagesOfShardsTest, TasksOfOtherShardsHaveTheirNumbersBeforeTheirIds) {
  with_pages([](Node& node, Pages pages, net::Network&) {
    const Crowd crowd(node, {1, 1, 1});
    const Json page = pages.json("/tasks?format=json");
    EXPECT_EQ(page["count"], page["tasks"].size());
    const auto found = spectators(page["tasks"]);
    ASSERT_EQ(found.size(), 3U) << page;
    std::string of_last;
    for (const auto& [id, task] : found) {
      EXPECT_THAT(id, MatchesRegex("([12]\\.)?[0-9]+"));
      EXPECT_EQ(task["id"].is_number(), id.find('.') == std::string::npos);
      if (id.starts_with("2.")) of_last = id;
    }
    EXPECT_THAT(pages.get("/tasks").body,
                ContainsRegex("\n2\\.[0-9]+ +spectator +suspended +a move +"));

    EXPECT_THAT(pages.get("/tasks/" + of_last).body,
                ContainsRegex("^ID .*\n2\\.[0-9]+ +spectator .*\n"
                              ".*    at .*wait.*\n"
                              "    at .*\\(test/framework/crowd.h:[0-9]+\\)\n"));
    const Json task = pages.json("/tasks/" + of_last + "?format=json");
    EXPECT_EQ(task["id"], of_last);
    EXPECT_EQ(task["name"], "spectator");
    for (const char* id : {"3.1", "1.987654321", "0.1", "1.", "1.2.3"}) {
      const auto response = pages.get(std::string("/tasks/") + id);
      EXPECT_EQ(response.status, 404U) << id;
      EXPECT_THAT(response.body, StartsWith(std::string("no task ") + id + " is alive"));
    }
  });
}

TEST(PagesOfShardsTest, TheOldestThousandTasksOfAllShardsAreShown) {
  with_pages([](Node& node, Pages pages, net::Network&) {
    const Crowd crowd(node, {500, 600, 400});
    const Json page = pages.json("/tasks?format=json");
    EXPECT_GT(page["count"], 1'500);
    ASSERT_EQ(page["tasks"].size(), 1'000U);
    std::vector<double> ages;
    for (const Json& task : page["tasks"]) ages.push_back(task["age_seconds"].get<double>());
    EXPECT_TRUE(std::ranges::is_sorted(ages, std::greater{}));
  });
}

TEST(PagesOfShardsTest, EqualStacksOfAllShardsAreOneGroup) {
  with_pages([](Node& node, Pages pages, net::Network&) {
    const Crowd crowd(node, {1, 250, 249});  // More than one pass reads.
    const Json page = pages.json("/tasks/stacks?format=json");
    EXPECT_GT(page["count"], 500);
    const Json& group = page["groups"][0];
    EXPECT_EQ(group["count"], 500);
    EXPECT_EQ(group["waiting_for"], "a move");
    EXPECT_EQ(group["names"], Json::array({"spectator"}));
    EXPECT_THAT(group["stack"].dump(), HasSubstr("\"file\":\"test/framework/crowd.h\""));
    EXPECT_THAT(pages.get("/tasks/stacks").body,
                ContainsRegex("^500 tasks suspended, waits for a move, for up to [0-9.]+ s "
                              "\\(task ([12]\\.)?[0-9]+\\): \"spectator\"\n"));
  });
}

TEST(PagesOfShardsTest, APlaceThatSpawnsOnAllShardsIsOneRow) {
  with_pages([](Node& node, Pages pages, net::Network&) {
    const Crowd crowd(node, {2, 3, 4});
    const Json sites = pages.json("/sites?format=json")["sites"];
    int row_count = 0;
    for (const Json& site : sites) {
      if (site["first_name"] != "spectator") continue;
      ++row_count;
      EXPECT_EQ(site["spawned"], 9);
      EXPECT_EQ(site["alive"], 9);
    }
    EXPECT_EQ(row_count, 1);
  });
}

TEST(PagesOfShardsTest, ManyPagesMayBeReadAtTheSameTime) {
  with_pages([](Node& node, Pages pages, net::Network&) {
    const Crowd crowd(node, {10, 10, 10});
    coroutine::TaskGroup readers;
    for (const char* page : {"/stats", "/metrics", "/tasks", "/tasks/stacks", "/sites", "/objects",
                             "/tasks/1.1", "/health"}) {
      for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(readers.spawn(page, [&pages, page] {
          for (int j = 0; j < 2; ++j) EXPECT_NE(pages.get(page).status, 0U) << page;
        }));
      }
    }
    EXPECT_TRUE(readers.join(Deadline::never()));
  });
}

}  // namespace
}  // namespace corolane::framework
