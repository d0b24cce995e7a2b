// Words and options in any order, and the errors for wrong ones.
#include "tools/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace corolane::tools {
namespace {

constexpr auto rules =
    std::to_array<OptionRule>({{.name = "--timeout", .has_value = true}, {.name = "--json"}});

Result<Arguments> parse(const std::vector<const char*>& words) {
  return parse_arguments(words, rules);
}

TEST(ArgumentsTest, OptionsMayStandAnywhere) {
  const auto arguments = parse({"--json", "one", "--timeout", "5s", "two"});

  ASSERT_TRUE(arguments) << arguments;
  EXPECT_THAT(arguments->words, testing::ElementsAre("one", "two"));
  EXPECT_TRUE(arguments->has("--json"));
  EXPECT_EQ(arguments->options.at("--timeout"), "5s");
}

TEST(ArgumentsTest, AValueMayFollowAnEqualsSign) {
  const auto arguments = parse({"--timeout=5s"});

  ASSERT_TRUE(arguments) << arguments;
  EXPECT_EQ(arguments->options.at("--timeout"), "5s");
}

TEST(ArgumentsTest, ADashAloneIsAWord) {
  const auto arguments = parse({"-"});

  ASSERT_TRUE(arguments) << arguments;
  EXPECT_THAT(arguments->words, testing::ElementsAre("-"));
}

TEST(ArgumentsTest, AnUnknownOptionIsNamed) {
  EXPECT_EQ(parse({"--timout=5s"}).error().message(), "unknown option \"--timout\"");
}

TEST(ArgumentsTest, AnOptionWithoutItsValueIsNamed) {
  EXPECT_EQ(parse({"one", "--timeout"}).error().message(), "--timeout needs a value");
}

TEST(ArgumentsTest, AnOptionWithAnUnexpectedValueIsNamed) {
  EXPECT_EQ(parse({"--json=yes"}).error().message(), "--json takes no value");
}

}  // namespace
}  // namespace corolane::tools
