// SPDX-License-Identifier: MIT
// Objects that call each other in two chains of calls at the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coroutine/sync/for_each.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/store/memory_store.h"
#include "test/framework/puppet_stage.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

class ObjectCyclesTest : public testing::Test {
 protected:
  ObjectCyclesTest() {
    strings_.run = [this](test::Puppet& puppet) {
      const auto script = scripts_.find(puppet.id());
      return script == scripts_.end() ? Result<void>() : script->second(puppet);
    };
  }

  // Runs the script of that object.
  Result<void> run(const std::string& id) {
    auto ran = stage_.puppet(id).run({});
    return ran ? Result<void>() : ran.error();
  }
  Result<void> look(const std::string& id) {
    auto seen = stage_.puppet(id).look({});
    return seen ? Result<void>() : seen.error();
  }
  // A script: looks at another object after a while.
  std::function<Result<void>(test::Puppet&)> look_at(const std::string& id, Duration after) {
    return [this, id, after](test::Puppet&) -> Result<void> {
      COROLANE_TRY(coroutine::sleep_for(after));
      return look(id);
    };
  }

  MemoryStore store_;
  std::map<std::string, std::function<Result<void>(test::Puppet&)>> scripts_;
  test::Puppet::Strings strings_;
  test::PuppetStage stage_{store_, strings_};
};

TEST_F(ObjectCyclesTest, TheSecondOfTwoObjectsThatCallEachOtherIsToldAtOnce) {
  scripts_["a"] = look_at("b", 10ms);
  scripts_["b"] = look_at("a", 20ms);
  const TimePoint start = now();
  auto first = coroutine::spawn("a", [&] { return run("a"); });
  const auto second = run("b");
  EXPECT_TRUE(first.join(Deadline::never())) << "it goes on";
  EXPECT_LT(now() - start, 30ms);
  ASSERT_THAT(second, fails_with(Code::aborted));
  EXPECT_EQ(second.error().message(),
            "two chains of calls would wait for each other: corolane.test.Puppet/Run(\"b\") -> "
            "corolane.test.Puppet/Look(\"a\"), which waits for corolane.test.Puppet/Run(\"a\") -> "
            "corolane.test.Puppet/Look(\"b\")");
  EXPECT_TRUE(run("b")) << "later nobody is in its way";
}

// The call of "b" leaves first and waits; then the other chain arrives by way of "c".
TEST_F(ObjectCyclesTest, ACallThatArrivesFromALongerChainIsToldAtOnce) {
  scripts_["a"] = [&](test::Puppet&) -> Result<void> {
    COROLANE_TRY(coroutine::sleep_for(10ms));
    return run("c");
  };
  scripts_["b"] = look_at("a", 20ms);
  scripts_["c"] = look_at("b", 20ms);
  const TimePoint start = now();
  auto first = coroutine::spawn("b", [&] { return run("b"); });
  const auto second = run("a");
  EXPECT_TRUE(first.join(Deadline::never()));
  EXPECT_LT(now() - start, 50ms);
  ASSERT_THAT(second, fails_with(Code::aborted));
  EXPECT_EQ(second.error().message(),
            "two chains of calls would wait for each other: corolane.test.Puppet/Run(\"a\") -> "
            "corolane.test.Puppet/Run(\"c\") -> corolane.test.Puppet/Look(\"b\"), which waits for "
            "corolane.test.Puppet/Run(\"b\") -> corolane.test.Puppet/Look(\"a\")");
}

TEST_F(ObjectCyclesTest, CallsOfTasksThatAHandlerSpawnsAreSeen) {
  scripts_["a"] = [&](test::Puppet&) -> Result<void> {
    COROLANE_TRY(coroutine::sleep_for(10ms));
    std::vector<std::string> ids = {"c", "b", "d"};
    return coroutine::for_each(
        ids, {.concurrency = 3}, [&](const std::string& id) { return look(id); },
        Deadline::never());
  };
  scripts_["b"] = look_at("a", 20ms);
  auto first = coroutine::spawn("a", [&] { return run("a"); });
  EXPECT_THAT(run("b"), fails_with(Code::aborted));
  EXPECT_TRUE(first.join(Deadline::never()));
}

TEST_F(ObjectCyclesTest, AnObjectThatCallsWithoutItsTurnIsInNobodysWay) {
  scripts_["a"] = look_at("b", 10ms);
  scripts_["b"] = [&](test::Puppet& puppet) -> Result<void> {
    COROLANE_TRY(coroutine::sleep_for(5ms));
    return puppet.outside([&] {
      static_cast<void>(coroutine::sleep_for(20ms));
      return look("a");
    });
  };
  auto first = coroutine::spawn("a", [&] { return run("a"); });
  EXPECT_TRUE(run("b"));
  EXPECT_TRUE(first.join(Deadline::never()));
}

TEST_F(ObjectCyclesTest, ObjectsThatCallTheSameOneAreNoCycle) {
  for (const char* const id : {"a", "b", "c"}) scripts_[id] = look_at("d", 10ms);
  scripts_["d"] = look_at("e", 10ms);
  std::vector<coroutine::Task<void>> tasks;
  for (const char* const id : {"a", "b", "c", "d"}) {
    tasks.push_back(coroutine::spawn(id, [&, id] { return run(id); }));
  }
  for (auto& task : tasks) EXPECT_TRUE(task.join(Deadline::never()));
}

}  // namespace
}  // namespace corolane::framework::detail
