// SPDX-License-Identifier: MIT
// The text of pages, drawn from their JSON.
#include "framework/pages/detail/page_text.h"

#include <gtest/gtest.h>

#include <string>

namespace corolane::framework::detail {
namespace {

TEST(PageTextTest, ACellShowsAValueByItsKind) {
  EXPECT_EQ(cell_text(Json()), "-");
  EXPECT_EQ(cell_text(""), "-");
  EXPECT_EQ(cell_text(Json::array()), "-");
  EXPECT_EQ(cell_text(true), "yes");
  EXPECT_EQ(cell_text(false), "no");
  EXPECT_EQ(cell_text(-17), "-17");
  EXPECT_EQ(cell_text(0.25), "0.2");
  EXPECT_EQ(cell_text(Json::array({"a", 2})), "a, 2");
}

TEST(PageTextTest, ACellIsOneLineThatMovesNoCursor) {
  EXPECT_EQ(cell_text("a\n\x1b[2J\xff"), "a\\n\\x1b[2J\\xff");
}

TEST(PageTextTest, ATableHasAColumnForEachEntryOfItsLegend) {
  const Json rows =
      Json::array({{{"name", "a"}, {"calls", 1}}, {{"name", "longer"}, {"calls", 20}}});
  EXPECT_EQ(table_text(rows, "NAME: name, CALLS SO FAR: calls, LAST: missing"),
            "NAME    CALLS SO FAR  LAST\n"
            "a       1             -\n"
            "longer  20            -\n");
}

TEST(PageTextTest, ATableWithoutRowsHasItsHeads) {
  EXPECT_EQ(table_text(Json::array(), "NAME: name, AGE: age_seconds"), "NAME  AGE\n");
}

TEST(PageTextTest, UnitsAreThoseOfTheHead) {
  const Json rows =
      Json::array({{{"cpu_seconds", 0.0015}, {"used_bytes", 1025}}, {{"cpu_seconds", Json()}}});
  EXPECT_EQ(table_text(rows, "CPU: cpu_seconds, CPU US: cpu_seconds, USED KIB: used_bytes"),
            "CPU     CPU US  USED KIB\n"
            "0.002s  1500.0  2\n"
            "-       -       -\n");
}

std::string name_and_state(const Json& row) {
  return cell_text(row.at("name")) + (row.at("is_open").is_true() ? ", open" : ", shut");
}

TEST(PageTextTest, AComputedCellSeesTheWholeRow) {
  const Json rows = Json::array({{{"name", "a"}, {"is_open", true}}, {{"name", "b"}}});
  EXPECT_EQ(table_text(rows, "NAME: name", {{"name", name_and_state}}), "NAME\na, open\nb, shut\n");
}

TEST(PageTextTest, TheTotalSaysHowManyRowsAreLeftOut) {
  Json page = {{"count", 1}, {"tasks", Json::array({"one"})}};
  EXPECT_EQ(total_text(page, "tasks", "oldest"), "1 task\n");
  page["count"] = 1201;
  EXPECT_EQ(total_text(page, "tasks", "oldest"), "1201 tasks, the 1 oldest shown\n");
}

TEST(PageTextTest, AStackHasALineForEachFrame) {
  const Json stack = Json::array({{{"function", "inner()"}, {"file", "a.cc"}, {"line", 7}},
                                  {{"function", "outer()"}, {"file", ""}, {"line", 0}}});
  EXPECT_EQ(frames_text(stack), "    at inner() (a.cc:7)\n    at outer()\n");
}

}  // namespace
}  // namespace corolane::framework::detail
