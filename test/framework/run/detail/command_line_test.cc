// SPDX-License-Identifier: MIT
#include "framework/run/detail/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace corolane::framework::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Action = CommandLine::Action;

Result<CommandLine> parse(std::initializer_list<const char*> arguments) {
  return parse_command_line(std::vector(arguments));
}

std::string error_of(std::initializer_list<const char*> arguments) {
  const auto command = parse(arguments);
  return command ? "no error" : command.error().message();
}

TEST(CommandLineTest, WithoutArgumentsTheNodeServesItsDefaults) {
  const auto command = parse({});
  ASSERT_TRUE(command);
  EXPECT_EQ(command->action, Action::serve);
  EXPECT_THAT(command->config_path, IsEmpty());
  EXPECT_THAT(command->settings, IsEmpty());
}

TEST(CommandLineTest, ValuesFollowAfterASpaceOrAnEqualsSign) {
  const auto command =
      parse({"--config", "a.yaml", "--set", "node.name=x", "--set=chess.note=a=b"});
  ASSERT_TRUE(command);
  EXPECT_EQ(command->config_path, "a.yaml");
  EXPECT_THAT(command->settings, ElementsAre("node.name=x", "chess.note=a=b"));
  EXPECT_EQ(parse({"--config=b.yaml"})->config_path, "b.yaml");
}

TEST(CommandLineTest, ACrashReportIsNamed) {
  EXPECT_EQ(parse({"--explain-crash", "a.crash"})->crash_path, "a.crash");
  EXPECT_EQ(error_of({"--explain-crash"}), "--explain-crash needs the name of a file");
}

TEST(CommandLineTest, EveryActionHasItsOption) {
  EXPECT_EQ(parse({"--help"})->action, Action::help);
  EXPECT_EQ(parse({"-h"})->action, Action::help);
  EXPECT_EQ(parse({"--version"})->action, Action::version);
  EXPECT_EQ(parse({"--print-config"})->action, Action::print_config);
  EXPECT_EQ(parse({"--check-config"})->action, Action::check_config);
  EXPECT_EQ(parse({"--config-reference"})->action, Action::config_reference);
  EXPECT_EQ(parse({"--revoke-lease", "17"})->action, Action::revoke_lease);
  EXPECT_EQ(parse({"--revoke-lease=17"})->lease, 17u);
}

TEST(CommandLineTest, AnUnknownArgumentIsNamed) {
  EXPECT_EQ(error_of({"--confg", "x"}), "unknown option \"--confg\"");
  EXPECT_EQ(error_of({"--help=now"}), "unknown option \"--help=now\"");
  EXPECT_EQ(error_of({"chess.yaml"}), "stray argument \"chess.yaml\"");
  EXPECT_EQ(error_of({"--", "--help"}), "stray argument \"--help\"");
  EXPECT_EQ(parse({"--check-config", "--"})->action, Action::check_config);
}

TEST(CommandLineTest, AMissingValueIsAnErrorWithAnExample) {
  EXPECT_EQ(error_of({"--revoke-lease", "x"}),
            "--revoke-lease needs the number of a lease, not \"x\"");
  EXPECT_EQ(error_of({"--set"}), "--set needs KEY=VALUE, such as node.name=lobby-1");
  EXPECT_EQ(error_of({"--config"}), "--config needs the name of a file");
  EXPECT_EQ(error_of({"--config="}), "--config needs the name of a file");
  EXPECT_EQ(error_of({"--config", ""}), "--config needs the name of a file");
}

TEST(CommandLineTest, HelpNamesEveryOptionAndTheProgram) {
  const std::string help = help_text("chess");
  EXPECT_THAT(help, HasSubstr("Usage: chess "));
  for (const char* option : {"--config", "--set", "--explain-crash", "--check-config",
                             "--print-config", "--help", "--version", "COROLANE_NODE__NAME"}) {
    EXPECT_THAT(help, HasSubstr(option));
  }
}

}  // namespace
}  // namespace corolane::framework::detail
