// SPDX-License-Identifier: MIT
// A correct program, and the same with a bug between two awaited steps: for simulate_test.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>

#include "coroutine/marked_section.h"
#include "coroutine/task.h"
#include "framework/testing/simulated_test.h"
#include "test/tools/corolane/simulated/purse.corolane.h"

namespace corolane::simulated_test {
namespace {

using namespace std::chrono_literals;
using sim::SimulatedCluster;
using sim::SimulatedRun;

constexpr const char* purse_type = "corolane.simulated_test.Purse";
constexpr std::int64_t first_gold = 100;
constexpr int purse_count = 6;

std::string purse_name(std::uint64_t index) { return "purse-" + std::to_string(index); }

bool has_taken(const PurseState& state, const Gift& gift) {
  return std::ranges::any_of(state.taken(), [&](const Gift& taken) {
    return taken.from() == gift.from() && gift.number() <= taken.number();
  });
}

// A gift leaves one purse and arrives in another, which may be on another node. With `forgets` the
// gift is not stored before it leaves.
template <bool forgets>
class Purse final : public PurseObject {
 public:
  Result<PurseReply> give(const GiveRequest& request, rpc::Context&) override {
    const coroutine::MarkedSection section("give");
    // A gift that had left when the node died arrives first.
    if (auto delivered = deliver(); !delivered) return delivered.error();
    if (first_gold + state().change() == 0 || request.to() == id()) {
      return reply();
    }
    change().set_change(state().change() - 1);
    change().set_given(state().given() + 1);
    change().set_on_the_way_to(request.to());
    if (!forgets) {
      if (auto saved = save(); !saved) return saved.error();
    }
    if (auto delivered = deliver(); !delivered) return delivered.error();
    return reply();
  }

  Result<PurseReply> take(const Gift& gift, rpc::Context&) override {
    if (has_taken(state(), gift)) return reply();
    change().set_change(state().change() + 1);
    auto& all = *change().mutable_taken();
    auto taken = std::ranges::find(all, gift.from(), &Gift::from);
    if (taken == all.end()) {
      all.Add()->set_from(gift.from());
      taken = all.end() - 1;
    }
    taken->set_number(gift.number());
    return reply();
  }

 private:
  Result<void> deliver() {
    const PurseState& record = state();
    if (record.on_the_way_to().empty()) return {};
    Gift gift;
    gift.set_from(id());
    gift.set_number(record.given());
    auto taken = PurseClient(router(), record.on_the_way_to()).take(gift);
    if (!taken) return taken.error();
    change().clear_on_the_way_to();
    return {};
  }

  PurseReply reply() const {
    PurseReply reply;
    reply.set_gold(first_gold + state().change());
    return reply;
  }
};

// A purse gives to purses with a higher number, so that no two wait for each other.
void give_away(SimulatedRun& run, SimulatedCluster& cluster, std::uint64_t client) {
  const std::string name = "client " + std::to_string(client);
  test::Random dice = cluster.simulation().dice(client);
  while (!run.is_ending()) {
    const std::uint64_t from = dice.below(purse_count - 1);
    GiveRequest request;
    request.set_to(purse_name(from + 1 + dice.below(purse_count - 1 - from)));
    // A call may fail under faults: the gold must be right all the same.
    static_cast<void>(PurseClient(cluster.router(name), purse_name(from)).give(request));
    if (!coroutine::sleep_for(dice.up_to(200ms))) return;
  }
}

// Gold on the way counts until it has arrived.
std::string missing_gold(const SimulatedCluster& cluster) {
  std::int64_t sum = 0;
  for (std::uint64_t i = 0; i < purse_count; ++i) {
    const auto purse = cluster.stored<PurseState>(purse_type, purse_name(i));
    sum += purse.change();
    if (purse.on_the_way_to().empty()) continue;
    Gift gift;
    gift.set_from(purse_name(i));
    gift.set_number(purse.given());
    if (!has_taken(cluster.stored<PurseState>(purse_type, purse.on_the_way_to()), gift)) ++sum;
  }
  return sum == 0 ? "" : "the sum of all gold has changed by " + std::to_string(sum);
}

template <bool forgets>
void run_purses(SimulatedRun& run) {
  SimulatedCluster cluster(run.options(),
                           [](framework::Node& node) { node.host<Purse<forgets>>(); });
  for (std::uint64_t i = 0; i < run.plan().client_count; ++i) {
    cluster.spawn("client", [&, i] { give_away(run, cluster, i); });
  }
  run.play(cluster);
  const std::string missing = missing_gold(cluster);
  if (!missing.empty()) cluster.violated("gold is conserved: " + missing);
}

SIMULATED_TEST(PurseTest, GoldIsConserved, .length = 20s)(SimulatedRun& run) {
  run_purses<false>(run);
}

// The tests that fail on purpose do so only when they are asked to.
bool is_asked_to_fail() { return std::getenv("SIMULATED_TEST_FAILS") != nullptr; }

SIMULATED_TEST(BrokenTest, AGiftIsForgotten, .length = 20s)(SimulatedRun& run) {
  if (is_asked_to_fail()) run_purses<true>(run);
}

SIMULATED_TEST(BrokenTest, AnExpectationFails, .length = 8s, .faults = {})(SimulatedRun& run) {
  SimulatedCluster cluster(run.options(), [](framework::Node&) {});
  cluster.spawn("client", [&] {
    ASSERT_TRUE(coroutine::sleep_for(1s));
    EXPECT_TRUE(run.plan().seed != 3 || !is_asked_to_fail()) << "the third seed";
  });
  run.play(cluster);
}

SIMULATED_TEST(BrokenTest, TheProgramCrashes, .length = 8s, .faults = {})(SimulatedRun& run) {
  SimulatedCluster cluster(run.options(), [](framework::Node&) {});
  run.play(cluster);
  if (run.plan().seed == 5 && is_asked_to_fail()) std::abort();
}

SIMULATED_TEST(BrokenTest, ARunDoesNotFollowFromItsSeed, .length = 8s,
               .faults = {})(SimulatedRun& run) {
  SimulatedCluster cluster(run.options(), [](framework::Node&) {});
  cluster.spawn("client", [&] {
    const auto pause = is_asked_to_fail() ? std::random_device()() % 1'000'000'000 : 0;
    static_cast<void>(coroutine::sleep_for(Duration(pause)));
    // No node has such objects, but the call is an event of the run.
    static_cast<void>(PurseClient(cluster.router("client"), "nobody").take({}));
  });
  run.play(cluster);
}

}  // namespace
}  // namespace corolane::simulated_test
