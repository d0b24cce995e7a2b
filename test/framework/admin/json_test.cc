// SPDX-License-Identifier: MIT
#include "framework/admin/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace corolane::framework::detail {
namespace {

TEST(JsonTest, WritesNothingAsNull) { EXPECT_EQ(Json().to_text(), "null"); }

TEST(JsonTest, WritesScalarsAsTheLibraryDoes) {
  EXPECT_EQ(Json(true).to_text(), "true");
  EXPECT_EQ(Json(-3).to_text(), "-3");
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).to_text(), "18446744073709551615");
  EXPECT_EQ(Json("a \"b\"\n").to_text(), R"("a \"b\"\n")");
  for (const double number : {0.0, 1.0, 0.1, 1e-7, 1.5e300, std::nan("")}) {
    EXPECT_EQ(Json(number).to_text(), nlohmann::json(number).dump());
  }
}

TEST(JsonTest, WritesObjectsInTheOrderOfTheirMembers) {
  Json json = {{"second", 2}, {"first", {{"deep", true}}}};
  json["third"] = "x";
  json["second"] = Json();
  EXPECT_EQ(json.to_text(),
            "{\n  \"second\": null,\n  \"first\": {\n    \"deep\": true\n  },\n  \"third\": \"x\"\n"
            "}");
}

TEST(JsonTest, WritesArraysOfAnything) {
  Json json = Json::array();
  json.push_back({{"pair", Json::array({1, "two"})}});
  json.push_back(std::vector<std::vector<std::string>>{{"a"}, {}});
  EXPECT_EQ(json.size(), 2);
  EXPECT_EQ(json.to_text(),
            "[\n  {\n    \"pair\": [\n      1,\n      \"two\"\n    ]\n  },\n"
            "  [\n    [\n      \"a\"\n    ],\n    []\n  ]\n]");
}

TEST(JsonTest, WritesEmptyContainersOnOneLine) {
  EXPECT_EQ(Json::array().to_text(), "[]");
  EXPECT_EQ(Json::object().to_text(), "{}");
}

TEST(JsonTest, ReadsWhatWasBuilt) {
  const Json json = {{"name", "x"}, {"count", 3}, {"seconds", 0.5}, {"is_open", true}};
  EXPECT_EQ(json.at("name").text(), "x");
  EXPECT_EQ(json.at("count").number(), 3.0);
  EXPECT_EQ(json.at("seconds").number(), 0.5);
  EXPECT_TRUE(json.at("is_open").is_true());
  EXPECT_EQ(Json::array({1, 2}).elements().size(), 2u);
}

TEST(JsonTest, ReadsAValueOfAnotherKindAsNothing) {
  const Json json = {{"name", "x"}};
  EXPECT_TRUE(json.at("missing").is_null());
  EXPECT_TRUE(json.at("name").at("part").is_null());
  EXPECT_FALSE(json.at("name").is_true());
  EXPECT_EQ(json.at("name").number(), 0.0);
  EXPECT_EQ(json.text(), "");
  EXPECT_TRUE(json.at("name").elements().empty());
  EXPECT_EQ(json.size(), 0u);
  EXPECT_EQ(json.at("name").size(), 0u);
}

TEST(JsonTest, ReplacesInvalidUtf8) {
  EXPECT_EQ(Json("a\xff").to_text(), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(Json({{"\xff", 1}}).to_text(), "{\n  \"\xef\xbf\xbd\": 1\n}");
  EXPECT_EQ(quoted_ascii("a\xff\xc3\xa4"), R"("a\ufffd\u00e4")");
}

}  // namespace
}  // namespace corolane::framework::detail
