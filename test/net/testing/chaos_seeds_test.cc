// SPDX-License-Identifier: MIT
// The proxy never damages bytes, whatever its plan; and a seed determines a whole run.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"
#include "net/testing/chaos_proxy.h"
#include "net/testing/network.h"
#include "test/fixtures/heard.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using net::bytes_of;
using Kind = ChaosEvent::Kind;

// Connections with traffic in both directions through a proxy with a plan of its own.
class Babble {
 public:
  struct Flow {
    std::string sent;
    Heard heard;
    std::uint64_t connection;
    ChaosDirection direction;
  };
  struct Outcome {
    std::vector<Flow> flows;
    std::vector<ChaosEvent> events;
    std::array<std::uint64_t, ChaosEvent::kind_count> counts;
  };

  static Outcome run(std::uint64_t seed) {
    Random random(seed);
    sim::SimulatedNetwork network;
    const auto listener = network.listen({"server", 1}).value();
    ChaosProxy proxy(network, {.target = {"server", 1},
                               .seed = seed,
                               .plan = ChaosPlan::random(random),
                               .break_off = [&](net::Stream& stream) { network.reset(stream); }});
    EXPECT_TRUE(proxy.listen({"proxy", 2}));
    Babble babble(network, *listener, random);
    babble.talk();
    EXPECT_TRUE(proxy.heal());
    Outcome outcome{.flows = {}, .events = proxy.trace().events(), .counts = {}};
    for (std::size_t kind = 0; kind < ChaosEvent::kind_count; ++kind) {
      outcome.counts[kind] = proxy.trace().count(static_cast<Kind>(kind));
    }
    outcome.flows = std::move(babble.flows_);
    return outcome;
  }

 private:
  static constexpr std::size_t connection_count = 6;

  Babble(sim::SimulatedNetwork& network, net::Listener& listener, Random& random)
      : network_(network), listener_(listener), random_(random) {}

  void talk() {
    coroutine::TaskGroup tasks;
    for (std::uint64_t number = 1; number <= connection_count; ++number) {
      // They connect one after the other, so that the proxy numbers them in this order.
      auto client = network_.connect({"proxy", 2}, Deadline::after(1s));
      ASSERT_TRUE(client) << client;
      streams_.push_back(std::move(*client));
      auto target = listener_.accept(Deadline::after(1s));
      Flow up{
          .sent = {}, .heard = {}, .connection = number, .direction = ChaosDirection::to_target};
      Flow down{
          .sent = {}, .heard = {}, .connection = number, .direction = ChaosDirection::to_client};
      net::Stream& near = *streams_.back();
      if (target) {
        streams_.push_back(std::move(*target));
        net::Stream& far = *streams_.back();
        run_flow(tasks, near, far, std::move(up));
        run_flow(tasks, far, near, std::move(down));
      }
    }
    ASSERT_TRUE(tasks.join(Deadline::never()));
    for (Flow& flow : flows_) flow.sent = sent_[{flow.connection, flow.direction}];
    std::ranges::sort(flows_, {},
                      [](const Flow& flow) { return std::tuple(flow.connection, flow.direction); });
  }

  void run_flow(coroutine::TaskGroup& tasks, net::Stream& from, net::Stream& to, Flow flow) {
    const std::uint64_t seed = random_.any();
    auto sender = tasks.spawn(
        "sender", [&from, seed, this, number = flow.connection, direction = flow.direction] {
          Random random(seed);
          std::string& sent = sent_[{number, direction}];
          for (std::uint64_t count = random.below(20); count > 0; --count) {
            std::string part(1 + random.below(2000), ' ');
            for (char& c : part) c = static_cast<char>(random.below(256));
            sent += part;
            if (!from.write_all(bytes_of(part), Deadline::after(1s))) break;
            if (!coroutine::sleep_for(random.up_to(20ms))) break;
          }
          if (random.one_in(20)) {
            network_.reset(from);
          } else {
            from.finish_writing();
          }
        });
    auto receiver = tasks.spawn("receiver", [&to, this, flow = std::move(flow)]() mutable {
      flow.heard = listen_to(to);
      flows_.push_back(std::move(flow));
    });
    EXPECT_TRUE(sender);
    EXPECT_TRUE(receiver);
  }

  sim::SimulatedNetwork& network_;
  net::Listener& listener_;
  Random& random_;
  std::vector<std::unique_ptr<net::Stream>> streams_;
  std::map<std::pair<std::uint64_t, ChaosDirection>, std::string> sent_;
  std::vector<Flow> flows_;
};

TEST(ChaosSeedsTest, BytesAreUnharmedAndTheSameSeedDoesTheSameAgain) {
  std::array<std::uint64_t, ChaosEvent::kind_count> counts{};
  std::size_t whole_count = 0;
  std::size_t torn_count = 0;
  const std::uint64_t seed_count = under_slow_watch() ? 40 : 200;
  for (std::uint64_t seed = 1; seed <= seed_count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Babble::Outcome outcome = Babble::run(seed);
    for (const Babble::Flow& flow : outcome.flows) {
      ASSERT_TRUE(flow.sent.starts_with(flow.heard.text))
          << "connection " << flow.connection << ' ' << to_string(flow.direction);
      ++(flow.heard.end && flow.heard.text == flow.sent ? whole_count : torn_count);
    }
    const Babble::Outcome again = Babble::run(seed);
    const auto [first, second] = std::ranges::mismatch(outcome.events, again.events);
    ASSERT_TRUE(first == outcome.events.end() && second == again.events.end())
        << "the traces differ from event " << first - outcome.events.begin();
    ASSERT_EQ(outcome.flows.size(), again.flows.size());
    for (std::size_t index = 0; index < outcome.flows.size(); ++index) {
      ASSERT_EQ(outcome.flows[index].heard.text, again.flows[index].heard.text);
    }
    for (std::size_t kind = 0; kind < counts.size(); ++kind) counts[kind] += outcome.counts[kind];
  }
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    EXPECT_GT(counts[kind], 0u) << to_string(static_cast<Kind>(kind)) << " never happened";
  }
  EXPECT_GT(whole_count, torn_count / 4) << "the plans do too much";
  EXPECT_GT(torn_count, whole_count / 4) << "the plans do too little";
}

}  // namespace
}  // namespace corolane::test
