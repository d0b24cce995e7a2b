// SPDX-License-Identifier: MIT
#include "tools/corolane/new_project.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"
#include "tools/corolane/project_template.h"

namespace corolane::tools::cli {
namespace {

namespace fs = std::filesystem;
using test::fails_with;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

class NewProjectTest : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  const fs::path parent_ = folder_.path();
};

TEST_F(NewProjectTest, EachFileOfTheTemplateIsThere) {
  ASSERT_TRUE(write_project(parent_, "demo"));

  EXPECT_THAT(names_in(parent_), UnorderedElementsAre("demo"));
  EXPECT_EQ(names_in(parent_ / "demo").size(), project_template().size());
  EXPECT_THAT(read(parent_ / "demo/guild.h"), HasSubstr("\nnamespace demo {\n"));
  EXPECT_THAT(read(parent_ / "demo/demo.yaml"), HasSubstr("\ndemo:\n"));
}

TEST_F(NewProjectTest, TheNameOfTheTemplateIsReplacedEverywhere) {
  ASSERT_TRUE(write_project(parent_, "demo"));

  for (const std::string& name : names_in(parent_ / "demo")) {
    EXPECT_THAT(name, Not(HasSubstr(template_name)));
    EXPECT_THAT(read(parent_ / "demo" / name), Not(HasSubstr(template_name))) << name;
  }
}

TEST_F(NewProjectTest, AHandlerFileIsShort) {
  ASSERT_TRUE(write_project(parent_, "demo"));

  const std::string text = read(parent_ / "demo/guild.cc");
  EXPECT_LE(std::ranges::count(text, '\n'), 25);
}

TEST_F(NewProjectTest, AnExistingFileIsLeftAlone) {
  std::ofstream(parent_ / "demo") << "mine";
  fs::create_symlink("nowhere", parent_ / "pointer");

  EXPECT_THAT(write_project(parent_, "demo"), fails_with(Code::already_exists));
  EXPECT_THAT(write_project(parent_, "pointer"), fails_with(Code::already_exists));
  EXPECT_EQ(read(parent_ / "demo"), "mine");
  EXPECT_THAT(names_in(parent_), UnorderedElementsAre("demo", "pointer"));
}

TEST_F(NewProjectTest, AWrongNameWritesNothing) {
  EXPECT_THAT(write_project(parent_, "../demo"), fails_with(Code::invalid_argument));
  EXPECT_THAT(names_in(parent_), IsEmpty());
}

TEST_F(NewProjectTest, AWriteErrorIsReported) {
  const auto written = write_project(parent_ / "nowhere", "demo");

  ASSERT_THAT(written, fails_with(Code::unavailable));
  EXPECT_THAT(written.error().message(), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace corolane::tools::cli
