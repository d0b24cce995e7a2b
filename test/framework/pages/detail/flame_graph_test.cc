// SPDX-License-Identifier: MIT
// Time by stacks, as folded text and as a drawing.
#include "framework/pages/detail/flame_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace corolane::framework::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(FlameGraphTest, FoldedHasALineForEachStackWithItsOwnTime) {
  FlameGraph graph;
  graph.add({"main", "b"}, 2);
  graph.add({"main", "a", "x"}, 3);
  graph.add({"main", "a"}, 1);
  graph.add({"main", "a", "x"}, 4);
  EXPECT_EQ(graph.total(), 10u);
  EXPECT_EQ(graph.folded(), "main;a 1\nmain;a;x 7\nmain;b 2\n");
}

TEST(FlameGraphTest, SeparatorsInNamesAreReplaced) {
  FlameGraph graph;
  graph.add({"a;b", "two\nlines"}, 1);
  EXPECT_EQ(graph.folded(), "a:b;two\\nlines 1\n");
}

TEST(FlameGraphTest, WithoutSamplesTheGraphIsEmpty) {
  const FlameGraph graph;
  EXPECT_EQ(graph.folded(), "");
  EXPECT_THAT(graph.svg("nothing", "us"), HasSubstr("</svg>"));
}

TEST(FlameGraphTest, TheDrawingHasABoxForEachFunctionAsWideAsItsTime) {
  FlameGraph graph;
  graph.add({"main", "left"}, 1);
  graph.add({"main", "right"}, 3);
  const std::string svg = graph.svg("a title", "us");
  EXPECT_THAT(svg, HasSubstr(">a title</text>"));
  EXPECT_THAT(svg, HasSubstr("<title>main: 4 us, 100.0%</title><rect x=\"0.0\""));
  EXPECT_THAT(svg, HasSubstr("<title>left: 1 us, 25.0%</title><rect x=\"0.0\""));
  EXPECT_THAT(svg, HasSubstr("<title>right: 3 us, 75.0%</title><rect x=\"300.0\""));
  EXPECT_THAT(svg, HasSubstr("width=\"900.0\""));
  // By these the script knows them, however small they are drawn.
  EXPECT_THAT(svg, HasSubstr("data-at=\"0\" data-weight=\"1\"><title>left"));
  EXPECT_THAT(svg, HasSubstr("data-at=\"1\" data-weight=\"3\"><title>right"));
}

TEST(FlameGraphTest, NamesAreEscaped) {
  FlameGraph graph;
  graph.add({"std::vector<int>::push_back & \"more\""}, 1);
  const std::string svg = graph.svg("<b>", "us");
  EXPECT_THAT(svg, HasSubstr("std::vector&lt;int&gt;::push_back &amp; &quot;more&quot;"));
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<int>")));
}

TEST(FlameGraphTest, BoxesTooThinToSeeAreLeftOut) {
  FlameGraph graph;
  graph.add({"main"}, 1'000'000);
  graph.add({"main", "speck"}, 1);
  EXPECT_THAT(graph.svg("", "us"), Not(HasSubstr("speck")));
  EXPECT_THAT(graph.folded(), HasSubstr("main;speck 1\n"));
}

}  // namespace
}  // namespace corolane::framework::detail
