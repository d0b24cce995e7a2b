// SPDX-License-Identifier: MIT
// The errors of an object's calls that mark the handler as not started: those of the host, of the
// router and of the network path, never an error that a handler passes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"
#include "test/framework/puppet_stage.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::Puppet;
using test::PuppetStage;

// Puppets, called by the shard itself and over a connection. The method is not idempotent.
struct Stage {
  explicit Stage(const ObjectHost::Options& options = {})
      : puppets(store, strings, 1, options), server(network) {
    EXPECT_TRUE(server.add(*puppets.host.types().front()));
    EXPECT_TRUE(server.listen({"server", 1}, {.door = rpc::Door::nodes}));
    auto connected = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
    EXPECT_TRUE(connected);
    client = *std::move(connected);
  }

  Result<test::RunReply> run(bool is_remote, const std::string& id = "a") {
    if (!is_remote) return puppets.puppet(id).run({});
    return run_remote(id);
  }
  Result<test::RunReply> run_remote(const std::string& id, std::uint64_t node_epoch = 0) {
    const rpc::ObjectTarget target{.id = id, .node_epoch = node_epoch};
    const auto methods = Puppet::object_type().methods;
    const auto run = std::ranges::find_if(methods, [](const rpc::Method& method) {
      return std::string_view(method.full_name).ends_with("/Run");
    });
    test::RunReply reply;
    if (auto ran = client->call(*run, test::RunRequest(), reply, {.object = &target}); !ran)
      return ran.error();
    return reply;
  }

  MemoryStore store;
  Puppet::Strings strings;
  PuppetStage puppets;
  sim::SimulatedNetwork network;
  rpc::Server server;
  std::unique_ptr<rpc::Client> client;
};

TEST(NotExecutedTest, AHandlerThatHasStartedIsNotRunAgain) {
  for (const bool is_remote : {false, true}) {
    for (const Error& error :
         {Error(Code::unavailable, "away"), Error(Code::unavailable, "away").with_not_executed(),
          Error(Code::resource_exhausted, "full").with_retry_after(10ms).with_not_executed()}) {
      Stage stage;
      int count = 0;
      stage.strings.run = [&](Puppet&) -> Result<void> {
        ++count;
        return error;
      };
      const auto ran = stage.run(is_remote);
      ASSERT_THAT(ran, fails_with(error.code()));
      EXPECT_FALSE(ran.error().not_executed());
      EXPECT_EQ(ran.error().retry_after(), error.retry_after());
      EXPECT_EQ(count, 1) << (is_remote ? "over the wire" : "here");
    }
  }
}

TEST(NotExecutedTest, AFullMailboxIsMarkedNotExecutedAndRetriedOverTheWire) {
  Stage stage({.mailbox_max = 1});
  int count = 0;
  stage.strings.run = [&](Puppet&) -> Result<void> {
    ++count;
    return coroutine::sleep_for(150ms);
  };
  auto first = coroutine::spawn("first", [&] { return stage.run(false); });
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  const auto refused = stage.run(false);
  ASSERT_THAT(refused, fails_with(Code::resource_exhausted));
  EXPECT_TRUE(refused.error().not_executed());
  EXPECT_TRUE(stage.run(true));
  EXPECT_TRUE(first.join(Deadline::never()));
  EXPECT_EQ(count, 2);
  EXPECT_GE(stage.client->statistics().retry_count, 1u);
}

TEST(NotExecutedTest, AnObjectThatCannotActivateOrHasNoOwnerIsMarkedNotExecuted) {
  for (const bool is_remote : {false, true}) {
    Stage stage;
    stage.strings.on_activate = [](Puppet&) -> Result<void> {
      return Error(Code::failed_precondition, "not today");
    };
    const auto asleep = stage.run(is_remote);
    ASSERT_THAT(asleep, fails_with(Code::failed_precondition));
    EXPECT_TRUE(asleep.error().not_executed());
    stage.puppets.own_all(0);
    const auto nowhere =
        is_remote ? stage.run_remote("b", /*node_epoch=*/1)
                  : stage.puppets.puppet("b").run({}, {.deadline = Deadline::after(100ms)});
    ASSERT_FALSE(nowhere);
    EXPECT_TRUE(nowhere.error().not_executed()) << nowhere.error();
  }
}

}  // namespace
}  // namespace corolane::framework::detail
