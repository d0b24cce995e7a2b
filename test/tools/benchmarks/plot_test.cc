// SPDX-License-Identifier: MIT
// Only the content of the chart is tested; its looks are judged by eye.
#include "tools/benchmarks/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corolane::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

RowResult result_with_ratio(double ratio) {
  return {.info = {.name = "yield/1", .unit = "ns", .bar = {.ratio = 0.8}},
          .ours = {10 * ratio},
          .limit = {10},
          .ratios = {ratio},
          .peers = {{"go & co", {5'000}}}};
}

TEST(PlotTest, TheChartIsOneSvgElementOnWhite) {
  const std::string svg = to_svg({result_with_ratio(0.5)});
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, HasSubstr("fill=\"#ffffff\"/>"));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
}

TEST(PlotTest, ARowShowsItsFigures) {
  EXPECT_THAT(to_svg({result_with_ratio(0.5)}), HasSubstr("5.00 against 10.0 ns, ratio 0.50"));
}

TEST(PlotTest, NamesAreEscaped) {
  const std::string svg = to_svg({result_with_ratio(0.5)});
  EXPECT_THAT(svg, HasSubstr("<title>go &amp; co: 5000 ns</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("go & co")));
}

TEST(PlotTest, TheScaleReachesAsFarAsThePeers) {
  EXPECT_THAT(to_svg({result_with_ratio(0.5)}), HasSubstr(">1000</text>"));
}

TEST(PlotTest, AValueOfZeroHasNoBar) {
  EXPECT_THAT(to_svg({result_with_ratio(0)}), HasSubstr("width=\"0\" height=\"14\""));
}

TEST(PlotTest, ARowThatWasNotMeasuredSaysSo) {
  RowResult result = result_with_ratio(1);
  result.ours.clear();
  result.ratios.clear();
  EXPECT_THAT(to_svg({result}), HasSubstr("not measured"));
}

}  // namespace
}  // namespace corolane::bench
