// SPDX-License-Identifier: MIT
#include "framework/node/detail/wait_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace corolane::framework::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WaitGraphTest, AChainIsNotACycle) {
  WaitGraph graph;
  graph.add("a", "b", "");
  graph.add("b", "c", "");
  graph.add("a", "c", "");
  EXPECT_THAT(graph.cycles(), IsEmpty());
}

TEST(WaitGraphTest, TwoObjectsThatWaitForEachOtherAreACycle) {
  WaitGraph graph;
  graph.add("x", "b", "");
  graph.add("b", "a", "");
  graph.add("a", "b", "");
  EXPECT_THAT(graph.cycles(), ElementsAre(ElementsAre("a", "b")));
}

TEST(WaitGraphTest, AnObjectThatWaitsForItselfIsACycle) {
  WaitGraph graph;
  graph.add("a", "a", "");
  EXPECT_THAT(graph.cycles(), ElementsAre(ElementsAre("a")));
}

TEST(WaitGraphTest, ACycleIsTheShortestPathAlongTheWaits) {
  WaitGraph graph;
  graph.add("a", "d", "");
  graph.add("d", "c", "");
  graph.add("c", "b", "");
  graph.add("b", "a", "");
  graph.add("d", "b", "");
  EXPECT_THAT(graph.cycles(), ElementsAre(ElementsAre("a", "d", "b")));
}

TEST(WaitGraphTest, EachCycleIsFoundOnce) {
  WaitGraph graph;
  for (const char* group : {"1", "2", "3"}) {
    const std::string a = std::string("a") + group;
    const std::string b = std::string("b") + group;
    graph.add(a, b, "");
    graph.add(a, b, "again");
    graph.add(b, a, "");
  }
  graph.add("a1", "a2", "");
  EXPECT_THAT(graph.cycles(), ElementsAre(ElementsAre("a1", "b1"), ElementsAre("a2", "b2"),
                                          ElementsAre("a3", "b3")));
}

TEST(WaitGraphTest, AChainMayBeOfAnyLength) {
  WaitGraph graph;
  constexpr int length = 100'000;
  const auto name = [](int i) { return std::to_string(i); };
  for (int i = 0; i + 1 < length; ++i) graph.add(name(i), name(i + 1), "");
  EXPECT_THAT(graph.cycles(), IsEmpty());
  graph.add(name(length - 1), name(0), "");
  ASSERT_EQ(graph.cycles().size(), 1u);
  EXPECT_EQ(graph.cycles().front().size(), static_cast<std::size_t>(length));
}

}  // namespace
}  // namespace corolane::framework::detail
