// SPDX-License-Identifier: MIT
#include "tools/corolane/new_project.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
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
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
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

// All files below the folder, as "web/page.js".
std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.insert(entry.path().lexically_relative(folder));
  }
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
  const auto is_for_all = [](const TemplateFile& file) { return file.client.empty(); };
  EXPECT_EQ(files_in(parent_ / "demo").size(),
            std::ranges::count_if(project_template(), is_for_all));
  EXPECT_THAT(read(parent_ / "demo/guild.h"), HasSubstr("\nnamespace demo {\n"));
  EXPECT_THAT(read(parent_ / "demo/demo.yaml"), HasSubstr("\ndemo:\n"));
}

TEST_F(NewProjectTest, APageIsThereWhenTheProjectHasAClientForTheWeb) {
  ASSERT_TRUE(write_project(parent_, "demo", "web"));
  ASSERT_TRUE(write_project(parent_, "plain", "none"));

  const std::set<std::string> files = files_in(parent_ / "demo");
  EXPECT_EQ(files.size(), project_template().size());
  EXPECT_THAT(files, IsSupersetOf({"web/index.html", "web/lib/corolane.js", "guilds.proto"}));
  EXPECT_THAT(read(parent_ / "demo/demo.yaml"), HasSubstr("\n    files: web\n"));
  EXPECT_THAT(read(parent_ / "demo/Dockerfile"), HasSubstr("files=/usr/share/demo/web"));
  EXPECT_THAT(names_in(parent_ / "plain"), Not(Contains("web")));
  for (const std::string& name : files_in(parent_ / "plain")) {
    const std::string text = read(parent_ / "plain" / name);
    EXPECT_THAT(text, Not(AnyOf(HasSubstr("web"), HasSubstr("guilds_service")))) << name;
  }
}

TEST_F(NewProjectTest, NothingOfTheTemplateIsLeft) {
  for (const std::string client : {"none", "web"}) {
    ASSERT_TRUE(write_project(parent_, client, client));
    for (const std::string& name : files_in(parent_ / client)) {
      EXPECT_THAT(name, Not(HasSubstr(template_name)));
      const std::string text = read(parent_ / client / name);
      EXPECT_THAT(text, Not(HasSubstr(template_name))) << name;
      EXPECT_THAT(text, Not(AnyOf(HasSubstr("{{client"), HasSubstr("{{end}}")))) << name;
      EXPECT_THAT(text, Not(HasSubstr("\n\n\n"))) << name;
    }
  }
}

TEST_F(NewProjectTest, APageIsSmallEnoughToRead) {
  ASSERT_TRUE(write_project(parent_, "demo", "web"));

  std::ptrdiff_t lines = 0;
  for (const char* name : {"index.html", "page.css", "page.js"}) {
    lines += std::ranges::count(read(parent_ / "demo/web" / name), '\n');
  }
  EXPECT_LE(lines, 280);
}

TEST_F(NewProjectTest, AHandlerFileIsShort) {
  ASSERT_TRUE(write_project(parent_, "demo"));

  const std::string text = read(parent_ / "demo/guild.cc");
  EXPECT_LE(std::ranges::count(text, '\n'), 40);
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
