// SPDX-License-Identifier: MIT
#include "net/http/http.h"

#include <gtest/gtest.h>

namespace corolane::net {
namespace {

TEST(HttpRequestTest, PathAndQueryAreTakenFromTheTarget) {
  const HttpRequest request{.target = "/stats?format=json&empty=&bare&last=a=b#part?format=no"};
  EXPECT_EQ(request.path(), "/stats");
  EXPECT_EQ(request.query("format"), "json");
  EXPECT_EQ(request.query("empty"), "");
  EXPECT_EQ(request.query("bare"), "");
  EXPECT_EQ(request.query("last"), "a=b");
  EXPECT_EQ(request.query("missing"), "");
  EXPECT_EQ(request.query(""), "");
}

TEST(HttpRequestTest, ATargetWithoutAQueryIsOnlyAPath) {
  EXPECT_EQ(HttpRequest{.target = "/stats"}.path(), "/stats");
  EXPECT_EQ(HttpRequest{.target = "/stats"}.query("stats"), "");
  EXPECT_EQ(HttpRequest{.target = "/stats#a=b"}.path(), "/stats");
  EXPECT_EQ(HttpRequest{.target = "/?a=1&a=2"}.query("a"), "1");
}

TEST(HttpRequestTest, HeaderNamesIgnoreCase) {
  const HttpRequest request{
      .headers = {{"Content-Type", "text/plain"}, {"X-Twice", "first"}, {"x-twice", "second"}}};
  EXPECT_EQ(request.header("content-type"), "text/plain");
  EXPECT_EQ(request.header("X-TWICE"), "first");
  EXPECT_EQ(request.header("content-typ"), "");
}

}  // namespace
}  // namespace corolane::net
