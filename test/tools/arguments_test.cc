// SPDX-License-Identifier: MIT
// Words and options in any order, and the errors for wrong ones.
#include "tools/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace corolane::tools {
namespace {

constexpr auto rules =
    std::to_array<OptionRule>({{.name = "--timeout", .has_value = true},
                               {.name = "--state", .has_value = true, .choices = "ready running"},
                               {.name = "--json"},
                               {.name = "--help"}});

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

TEST(ArgumentsTest, HIsShortForHelp) {
  const auto arguments = parse({"-h"});

  ASSERT_TRUE(arguments) << arguments;
  EXPECT_TRUE(arguments->has("--help"));
  EXPECT_THAT(arguments->words, testing::IsEmpty());
}

TEST(ArgumentsTest, AnotherLetterIsAnUnknownOption) {
  EXPECT_EQ(parse({"-x"}).error().message(), "unknown option \"-x\"");
}

TEST(ArgumentsTest, ANegativeNumberIsAWord) {
  const auto arguments = parse({"-5"});

  ASSERT_TRUE(arguments) << arguments;
  EXPECT_THAT(arguments->words, testing::ElementsAre("-5"));
}

TEST(ArgumentsTest, TwoDashesEndTheOptions) {
  const auto arguments = parse({"--json", "--", "--timeout", "-h", "--"});

  ASSERT_TRUE(arguments) << arguments;
  EXPECT_TRUE(arguments->has("--json"));
  EXPECT_THAT(arguments->words, testing::ElementsAre("--timeout", "-h", "--"));
}

TEST(ArgumentsTest, TwoDashesCanBeAValue) {
  const auto arguments = parse({"--timeout", "--", "--json"});

  ASSERT_TRUE(arguments) << arguments;
  EXPECT_EQ(arguments->options.at("--timeout"), "--");
  EXPECT_TRUE(arguments->has("--json"));
}

TEST(ArgumentsTest, ARepeatedOptionIsNamed) {
  EXPECT_EQ(parse({"--timeout", "5s", "--timeout=6s"}).error().message(),
            "--timeout is given twice");
  EXPECT_EQ(parse({"--json", "--json"}).error().message(), "--json is given twice");
  EXPECT_EQ(parse({"--help", "-h"}).error().message(), "--help is given twice");
}

TEST(ArgumentsTest, AValueThatIsNotExpectedIsNamedWithTheChoices) {
  EXPECT_EQ(parse({"--state", "running"})->options.at("--state"), "running");
  for (const char* const wrong : {"--state=waiting", "--state=", "--state=ready running"}) {
    EXPECT_EQ(parse({wrong}).error().message(), "--state is one of ready, running");
  }
}

}  // namespace
}  // namespace corolane::tools
