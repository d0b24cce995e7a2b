// SPDX-License-Identifier: MIT
#include "framework/pages/detail/wait_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <regex>
#include <string>
#include <vector>

namespace corolane::framework::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

struct Rectangle {
  double x;
  double y;
  double width;
  double height;

  bool overlaps(const Rectangle& other) const {
    return x < other.x + other.width && other.x < x + width && y < other.y + other.height &&
           other.y < y + height;
  }
};

std::vector<Rectangle> boxes_of(const std::string& svg) {
  static const std::regex box(
      "<rect class=.box[^>]* x=.([0-9.]+). y=.([0-9.]+). width=.([0-9.]+). height=.([0-9.]+).");
  std::vector<Rectangle> all;
  for (std::sregex_iterator at(svg.begin(), svg.end(), box), end; at != end; ++at) {
    all.push_back(
        {std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), std::stod((*at)[4])});
  }
  return all;
}

TEST(WaitDrawingTest, HasAnArrowForEachWaitAndMarksCycles) {
  WaitGraph graph;
  graph.add("Player(\"a\")", "Room(\"r\")", "Room/Join runs");
  graph.add("Room(\"r\")", "Player(\"b\")", "Player/Kick waits");
  graph.add("Player(\"b\")", "Room(\"r\")", "Room/Leave waits");
  const std::string svg = drawing_of(graph, "three", 10);
  EXPECT_THAT(svg, HasSubstr("Player(&quot;a&quot;) waits for Room(&quot;r&quot;): Room/Join"));
  EXPECT_EQ(count_of(svg, "<path class=\"arrow\""), 1u);
  EXPECT_EQ(count_of(svg, "<path class=\"arrow cycle\""), 2u);
  EXPECT_EQ(count_of(svg, "<rect class=\"box cycle\""), 2u);
}

TEST(WaitDrawingTest, PrefersCyclesWhenThereIsTooMuchToDraw) {
  WaitGraph graph;
  for (int i = 0; i < 100; ++i) graph.add("harmless", "harmless " + std::to_string(i), "");
  graph.add("one", "other", "");
  graph.add("other", "one", "");
  const std::string svg = drawing_of(graph, "", 3);
  EXPECT_THAT(svg, HasSubstr(">one</text>"));
  EXPECT_THAT(svg, HasSubstr(">other</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("harmless 7</text>")));
}

TEST(WaitDrawingTest, NoBoxCoversAnotherAndNoneIsCut) {
  WaitGraph graph;
  for (int i = 0; i < 12; ++i) {
    graph.add("chess.Player(\"" + std::string(static_cast<std::size_t>(i) * 9, 'x') + "\")",
              "chess.Guild(\"" + std::to_string(i / 4) + "\")", "chess.Guild/Join runs on a");
    graph.add("chess.Guild(\"" + std::to_string(i / 4) + "\")", "chess.Vault(\"v\")", "waits");
  }
  graph.add("chess.Vault(\"v\")", "chess.Guild(\"0\")", "chess.Guild/Add waits for its turn");
  const std::string svg = drawing_of(graph, "many", 60);
  const auto boxes = boxes_of(svg);
  ASSERT_EQ(boxes.size(), 16u);
  std::smatch size;
  ASSERT_TRUE(std::regex_search(svg, size, std::regex("viewBox=.0 0 ([0-9.]+) ([0-9.]+)")));
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    EXPECT_LE(boxes[i].x + boxes[i].width, std::stod(size[1]));
    EXPECT_LE(boxes[i].y + boxes[i].height, std::stod(size[2]));
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(boxes[i].overlaps(boxes[j])) << i << " " << j;
  }
}

TEST(WaitDrawingTest, ALongNameIsShortenedInItsMiddle) {
  WaitGraph graph;
  graph.add("chess.Player(\"" + std::string(200, 'x') + "end\")", "b", "");
  EXPECT_THAT(drawing_of(graph, "", 10), HasSubstr("xx...xx"));
  EXPECT_THAT(drawing_of(graph, "", 10), HasSubstr("xend&quot;)</text>"));
}

}  // namespace
}  // namespace corolane::framework::detail
