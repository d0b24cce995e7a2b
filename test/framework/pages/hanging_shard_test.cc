// SPDX-License-Identifier: MIT
// The pages of a node on real threads, while an object of one of its shards computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "coroutine/base/text.h"
#include "coroutine/task.h"
#include "framework/node/each_shard.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/telemetry/log.h"
#include "framework/wire/partition.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/pages/pages.h"
#include "test/framework/puppet.h"
#include "test/framework/test_node.h"

// The program whose code hangs: its namespace is not the runtime's.
namespace hanging_game {
namespace {

void compute(const std::atomic<bool>& is_released) {
  const corolane::Deadline patience = corolane::test::soon();
  while (!is_released.load() && !patience.has_passed()) {
  }
}

}  // namespace
}  // namespace hanging_game

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::json;

constexpr std::string_view type = "corolane.test.Puppet";

// An object computes on one shard of two, until it is told to end or the test hangs.
class HangingShard {
 public:
  explicit HangingShard(std::size_t shard) : shard_(shard) {
    while (partition_of(type, id_) % 2 != shard) id_ += 'x';
    strings_.run = [this](test::Puppet&) -> Result<void> {
      hanging_game::compute(is_released_);
      return {};
    };
  }

  void run() {
    test::run_on_real_loop([this](test::RealLoop& real) {
      NodeConfig config = test::node_config("several");
      config.shards = 2;
      test::PagedNode node(config, real.network, Log(LogLevel::error, [](std::string_view) {}),
                           Node::Parts{.has_control_loop = true});
      node.host<test::Puppet>([this](Shard&) { return std::make_unique<test::Puppet>(strings_); });
      const auto started = node.start();
      ASSERT_TRUE(started) << started;
      node.observe();
      node_ = &node;
      network_ = &real.network;
      look_before();
      auto computing = coroutine::spawn("computing", [this] { return call(); });
      wait_until_silent();
      look_meanwhile();
      is_released_ = true;
      EXPECT_TRUE(computing.join(test::soon()));
      look_after();
      EXPECT_TRUE(node.stop(test::soon()));
    });
  }

 private:
  net::HttpResponse get(const std::string& target) {
    return test::fetch(*network_, node_->endpoints().admin, target);
  }
  Json json(const std::string& target) {
    return test::json_page(*network_, node_->endpoints().admin, target);
  }

  Result<void> call() {
    return node_->on_each_shard([this](Shard& shard) -> Result<void> {
      if (shard.index() != shard_) return {};
      auto ran = test::PuppetClient(shard.router(), id_)
                     .run({}, {.deadline = Deadline::after(std::chrono::hours(1))});
      return ran ? Result<void>() : ran.error();
    });
  }

  void wait_until_silent() {
    const Deadline deadline = test::soon();
    while (node_->silent_shards().empty() && !deadline.has_passed()) {
      ASSERT_TRUE(coroutine::yield());
    }
    // On a busy machine the watchdog may look at the stack of the shard a little later.
    while (!get("/").body.contains("Puppet/Run") && !deadline.has_passed()) {
      ASSERT_TRUE(coroutine::yield());
    }
  }

  void look_before() {
    EXPECT_EQ(get("/ready").body, "ready\n");
    const Json stats = json("/stats");
    EXPECT_EQ(stats["shards"].size(), 2U);
    EXPECT_GT(stats["control"]["tasks"], 0);
    EXPECT_GT(stats["control"]["stacks_cap"], stats["control"]["stacks_in_use"]);
    const std::string metrics = get("/metrics").body;
    EXPECT_THAT(metrics, HasSubstr("\ncorolane_rpc_connections 0\n"));
    EXPECT_THAT(metrics, HasSubstr("\ncorolane_coroutine_stacks_refused_total 0\n"));
    EXPECT_THAT(metrics,
                HasSubstr("\ncorolane_coroutine_stacks_refused_total{thread=\"control\"} 0\n"));
  }

  void look_meanwhile() {
    const std::string number = std::to_string(shard_);
    const std::string silent = "shard " + number + " has not turned for ";
    const std::string work = ": corolane.test.Puppet/Run(\"" + escaped(id_) + "\")";
    for (const char* page :
         {"/objects", "/waits", "/tasks", "/tasks?group=stack", "/methods", "/connections", "/slow",
          "/sites", "/tasks/stackless", "/trace", "/objects?type=Puppet"}) {
      const auto response = get(page);
      EXPECT_EQ(response.status, 200) << page;
      EXPECT_THAT(response.body, AllOf(StartsWith(silent), HasSubstr(work))) << page;
    }
    const std::string path = "/objects/Puppet/%1B" + id_.substr(1);
    EXPECT_THAT(get(path).body, AllOf(HasSubstr(silent), HasSubstr(work), Not(HasSubstr("\x1b"))));
    const auto task = get(shard_ == 0 ? "/tasks/1" : "/tasks/1.1");
    EXPECT_EQ(task.status, 503);
    EXPECT_THAT(task.body, AllOf(HasSubstr(work), Not(HasSubstr("\x1b"))));

    const Json stats = json("/stats");
    ASSERT_EQ(stats["shards"].size(), 1U);
    EXPECT_EQ(stats["shards"][0]["shard"], 1 - shard_);
    ASSERT_EQ(stats["silent_shards"].size(), 1U);
    EXPECT_EQ(stats["silent_shards"][0]["shard"], shard_);
    EXPECT_GT(stats["silent_shards"][0]["seconds"], 0.5);

    const std::string metrics = get("/metrics").body;
    EXPECT_THAT(metrics, HasSubstr("\ncorolane_node_info{"));
    EXPECT_THAT(metrics, Not(HasSubstr("\ncorolane_rpc_connections ")));
    EXPECT_THAT(metrics, Not(HasSubstr("shard_silence_seconds{shard=\"" + number + "\"} 0\n")));

    EXPECT_EQ(get("/health").body, "ok\n");
    EXPECT_THAT(get("/").body, AllOf(HasSubstr(silent), HasSubstr(work)));
    EXPECT_EQ(json("/?format=json")["state"]["level"], "bad");
    EXPECT_EQ(json("/?format=json")["state"]["silent_shards"], Json::array({shard_}));
    look_at_history();
    look_at_ready(silent);
  }

  // The other shards and the node go on, and what all shards make together is a gap.
  void look_at_history() {
    const auto last = [this](const std::string& series) {
      const Json samples = json("/history?format=json&seconds=1&series=" + series)["series"][0];
      return samples["samples"].empty() ? Json() : samples["samples"][0];
    };
    const Deadline deadline = test::soon();
    while (last("state") != 4 && !deadline.has_passed()) ASSERT_TRUE(coroutine::sleep_for(10ms));
    EXPECT_EQ(last("state"), 4);
    EXPECT_GT(last("silence"), 0.4);
    EXPECT_GT(last("loop_delay"), 0.05);
    EXPECT_TRUE(last("calls").is_null());
    EXPECT_TRUE(last("cpu/" + std::to_string(shard_)).is_null());
  }

  // A load balancer waits for a second before it sends its clients elsewhere.
  void look_at_ready(const std::string& silent) {
    const Deadline deadline = test::soon();
    net::HttpResponse ready = get("/ready");
    while (ready.status == 200 && !deadline.has_passed()) ready = get("/ready");
    EXPECT_EQ(ready.status, 503);
    EXPECT_THAT(ready.body, AllOf(StartsWith(silent), HasSubstr("hanging_shard_test.cc:"),
                                  Not(HasSubstr("\x1b"))));
  }

  void look_after() {
    const Deadline deadline = test::soon();
    while (get("/ready").status != 200 && !deadline.has_passed()) {
    }
    EXPECT_EQ(get("/ready").body, "ready\n");
    EXPECT_THAT(get("/objects").body, Not(HasSubstr("has not turned")));
    EXPECT_EQ(json("/stats")["shards"].size(), 2U);
    EXPECT_THAT(get("/metrics").body, HasSubstr("\ncorolane_rpc_connections 0\n"));
    EXPECT_TRUE(call());
  }

  const std::size_t shard_;
  std::string id_ = "\x1b[2Jx";  // Text must not clear the screen of a terminal.
  std::atomic<bool> is_released_ = false;
  test::Puppet::Strings strings_;
  test::PagedNode* node_ = nullptr;
  net::Network* network_ = nullptr;
};

TEST(HangingShardTest, PagesNameAFirstShardThatHangs) { HangingShard(0).run(); }

TEST(HangingShardTest, PagesNameAnotherShardThatHangs) { HangingShard(1).run(); }

}  // namespace
}  // namespace corolane::framework
