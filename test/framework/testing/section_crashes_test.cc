// SPDX-License-Identifier: MIT
// Crashes at exact steps of the sections that a handler marks.
#include "framework/testing/section_crashes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/marked_section.h"
#include "coroutine/task.h"
#include "framework/testing/cluster.h"
#include "framework/testing/host.h"
#include "framework/testing/nemesis.h"
#include "test/framework/counter.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// Adds in a section of two steps, and notes what a live node does.
class MarkedCounter final : public test::Counter {
 public:
  MarkedCounter(SimulatedCluster*& cluster, std::vector<std::string>& notes)
      : cluster_(cluster), notes_(notes) {}

  Result<test::CounterReply> add_for_good(const test::AddRequest& request,
                                          rpc::Context& context) override {
    const coroutine::MarkedSection section("add");
    note("begun");
    if (auto slept = coroutine::sleep_for(10ms); !slept) return slept.error();
    note("step 1");
    if (auto slept = coroutine::sleep_for(10ms); !slept) return slept.error();
    note("step 2");
    return test::Counter::add_for_good(request, context);
  }

 private:
  void note(const char* what) {
    for (std::size_t i = 0; i < cluster_->node_count(); ++i) {
      const Host& host = cluster_->node_host(i);
      if (host.is_running() && host.is_alive()) notes_.emplace_back(what);
    }
  }

  SimulatedCluster*& cluster_;
  std::vector<std::string>& notes_;
};

class SectionCrashesTest : public testing::Test {
 protected:
  SectionCrashesTest()
      // A shuffled task may suspend in a call that need not, which is one more step.
      : cluster_({.seed = 3, .nodes = 2, .shuffles = false}, [this](framework::Node& node) {
          node.host<test::Counter>([this](framework::Shard&) {
            return std::make_unique<MarkedCounter>(itself_, notes_);
          });
        }) {}

  bool add_one() {
    return cluster_.run("client", [&] {
      test::CounterClient counter(cluster_.router("client"), "7");
      const auto added = counter.add_for_good(test::add_request(1));
      EXPECT_TRUE(added) << added;
    });
  }

  // Adds one while a crash is armed, and returns what live nodes have done. The client retries its
  // call until it is answered.
  std::vector<std::string> add_with_crash(const SectionMoment& moment) {
    notes_.clear();
    cluster_.sections().arm(moment, [this](std::size_t node) {
      notes_.emplace_back("crash");
      cluster_.restart(node);
    });
    EXPECT_TRUE(add_one());
    return notes_;
  }

  std::int64_t stored() const {
    return cluster_.stored<test::CounterState>("corolane.test.Counter", "7").value();
  }

  std::vector<std::string> notes_;
  SimulatedCluster* itself_ = &cluster_;
  SimulatedCluster cluster_;
};

TEST_F(SectionCrashesTest, TheCodeBehindTheMomentDoesNotRun) {
  EXPECT_THAT(add_with_crash({.section = "add", .step = 0}),
              ElementsAre("crash", "begun", "step 1", "step 2"));
  EXPECT_THAT(add_with_crash({.section = "add", .step = 1, .has_ended = false}),
              ElementsAre("begun", "crash", "begun", "step 1", "step 2"));
  EXPECT_THAT(add_with_crash({.section = "add", .step = 1, .has_ended = true}),
              ElementsAre("begun", "crash", "begun", "step 1", "step 2"));
  EXPECT_THAT(add_with_crash({.section = "add", .step = 2, .has_ended = false}),
              ElementsAre("begun", "step 1", "crash", "begun", "step 1", "step 2"));
  EXPECT_EQ(stored(), 4);
  EXPECT_THAT(cluster_.violations(), IsEmpty());
}

TEST_F(SectionCrashesTest, AnArmedCrashHappensOnce) {
  static_cast<void>(add_with_crash({.section = "add", .step = 1}));
  notes_.clear();
  EXPECT_TRUE(add_one());
  EXPECT_THAT(notes_, ElementsAre("begun", "step 1", "step 2"));
}

TEST_F(SectionCrashesTest, NothingCrashesAfterADisarm) {
  cluster_.sections().arm({.section = "add", .step = 1}, [&](std::size_t) { ADD_FAILURE(); });
  cluster_.sections().disarm();
  EXPECT_TRUE(add_one());
}

TEST_F(SectionCrashesTest, EachMomentHasItsTurn) {
  EXPECT_TRUE(add_one());
  const auto known = cluster_.sections().moments();
  const auto crashes_of = [&](const SectionMoment& moment) {
    return cluster_.sections().moments().at(moment).crashes;
  };
  test::Random dice(1);
  int round = 0;
  while (std::ranges::any_of(known, [&](const auto& one) { return crashes_of(one.first) == 0; })) {
    ASSERT_LT(++round, 100);
    cluster_.sections().arm_any(dice, [&](std::size_t node) { cluster_.restart(node); });
    EXPECT_TRUE(add_one());
  }
  for (const auto& [moment, visits] : known) EXPECT_EQ(crashes_of(moment), 1u) << to_text(moment);
  EXPECT_EQ(stored(), round + 1);
}

TEST_F(SectionCrashesTest, TheSectionsOfClientsAreNotThoseOfNodes) {
  EXPECT_TRUE(cluster_.run("client", [] {
    const coroutine::MarkedSection section("buy");
    EXPECT_TRUE(coroutine::sleep_for(1s));
  }));
  EXPECT_THAT(cluster_.sections().moments(), IsEmpty());
}

TEST_F(SectionCrashesTest, TheFaultCrashesAtAllMomentsOfEachCall) {
  cluster_.spawn("client", [&] {
    test::CounterClient counter(cluster_.router("client"), "7");
    for (int i = 0; i < 200; ++i) {
      // One call may meet all of the crashes.
      const auto added =
          counter.add_for_good(test::add_request(1), {.deadline = Deadline::after(5min)});
      EXPECT_TRUE(added) << added;
      EXPECT_TRUE(coroutine::sleep_for(50ms));
    }
  });
  Nemesis nemesis(cluster_, *find_faults("crash_in_section"));
  cluster_.run_for(2s);
  nemesis.run_until(cluster_.simulation().now() + 120s);
  EXPECT_TRUE(cluster_.run_until([&] { return cluster_.are_clients_done(); }, 10min));
  EXPECT_GE(nemesis.count(), 5u);
  // Each call has two steps. Under a seed a few suspend more often, which makes further moments;
  // some of them come too rarely for a turn.
  std::size_t certain = 0;
  for (const auto& [moment, visits] : cluster_.sections().moments()) {
    if (moment.step > 2) continue;
    ++certain;
    EXPECT_GE(visits.crashes, 1u) << to_text(moment);
  }
  EXPECT_EQ(certain, 5u);
  EXPECT_EQ(stored(), 200);
  EXPECT_THAT(cluster_.violations(), IsEmpty());
}

TEST(SectionMomentTest, HasAReadableText) {
  EXPECT_EQ(to_text({.section = "bid", .step = 0}), "bid, at its beginning");
  EXPECT_EQ(to_text({.section = "bid", .step = 2, .has_ended = false}), "bid, during step 2");
  EXPECT_EQ(to_text({.section = "bid", .step = 2, .has_ended = true}), "bid, after step 2");
}

}  // namespace
}  // namespace corolane::sim
