// SPDX-License-Identifier: MIT
// The cycles among waiting objects, and their drawing.
#include "framework/pages/detail/wait_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace corolane::framework::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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

TEST(WaitGraphTest, TheDrawingHasAnArrowForEachWaitAndMarksCycles) {
  WaitGraph graph;
  graph.add("Player(\"a\")", "Room(\"r\")", "Room/Join runs");
  graph.add("Room(\"r\")", "Player(\"b\")", "Player/Kick waits");
  graph.add("Player(\"b\")", "Room(\"r\")", "Room/Leave waits");
  const std::string svg = graph.svg("three", 10);
  EXPECT_THAT(svg, HasSubstr("<path class=\"wait\""));
  EXPECT_THAT(svg, HasSubstr("Player(&quot;a&quot;) waits for Room(&quot;r&quot;): Room/Join"));
  std::size_t red = 0;
  for (std::size_t at = svg.find("<path class=\"cycle\""); at != std::string::npos;
       at = svg.find("<path class=\"cycle\"", at + 1)) {
    ++red;
  }
  EXPECT_EQ(red, 2u);
}

TEST(WaitGraphTest, TheDrawingPrefersCyclesWhenThereIsTooMuchToDraw) {
  WaitGraph graph;
  for (int i = 0; i < 100; ++i) graph.add("harmless", "harmless " + std::to_string(i), "");
  graph.add("one", "other", "");
  graph.add("other", "one", "");
  const std::string svg = graph.svg("", 3);
  EXPECT_THAT(svg, HasSubstr(">one</text>"));
  EXPECT_THAT(svg, HasSubstr(">other</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("harmless 7")));
}

}  // namespace
}  // namespace corolane::framework::detail
