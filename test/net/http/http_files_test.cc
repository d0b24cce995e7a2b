// SPDX-License-Identifier: MIT
#include "net/http/http_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"
#include "net/http/gzip.h"

namespace corolane::net {
namespace {

namespace fs = std::filesystem;
using test::fails_with;
using testing::HasSubstr;

class HttpFilesTest : public testing::Test {
 protected:
  HttpFilesTest() { fs::create_directories(web_ / "pictures"); }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(web_ / name, std::ios::binary) << content;
  }
  Result<HttpFiles> read(const HttpFiles::Limits& limits = {}) const {
    return HttpFiles::read(web_.string(), limits);
  }
  // Nothing when the request is for no file.
  static std::optional<HttpResponse> ask(const HttpFiles& files, const HttpRequest& request) {
    HttpResponse response;
    if (!files.answer(request, response)) return std::nullopt;
    return response;
  }
  static std::optional<HttpResponse> get(const HttpFiles& files, const std::string& target) {
    return ask(files, {.target = target});
  }

  const test::TemporaryFolder folder_;
  const fs::path web_ = fs::path(folder_.path()) / "web";
};

TEST_F(HttpFilesTest, FilesAreFoundByTheirPaths) {
  write("index.html", "<h1>chess</h1>");
  write("a page.html", "blank");
  write("pictures/index.html", "pictures");
  write("pictures/king.svg", "<svg/>");
  const auto files = read();
  ASSERT_TRUE(files) << files;
  EXPECT_EQ(get(*files, "/")->body, "<h1>chess</h1>");
  EXPECT_EQ(get(*files, "/?game=1")->content_type, "text/html; charset=utf-8");
  EXPECT_EQ(get(*files, "/a%20page.html")->body, "blank");
  EXPECT_EQ(get(*files, "/pictures/")->body, "pictures");
  EXPECT_EQ(get(*files, "/pictures/king.svg")->content_type, "image/svg+xml");
  for (const char* const other :
       {"/pictures", "/king.svg", "/../web/index.html", "/%2e%2e/web/index.html", "index.html", "",
        "//", "/%", "/index.html/"}) {
    EXPECT_FALSE(get(*files, other)) << other;
  }
}

TEST_F(HttpFilesTest, AFileIsWhatItWasWhenItWasRead) {
  write("app.js", "let a = 1;");
  const auto files = read();
  ASSERT_TRUE(files) << files;
  write("app.js", "let a = 2;");
  write("later.js", "");
  EXPECT_EQ(get(*files, "/app.js")->body, "let a = 1;");
  EXPECT_FALSE(get(*files, "/later.js"));
}

TEST_F(HttpFilesTest, ABrowserThatHasTheLatestIsSentNothing) {
  write("app.js", "let a = 1;");
  const auto before = read();
  ASSERT_TRUE(before) << before;
  const std::string tag(get(*before, "/app.js")->headers.find("ETag"));
  const HttpRequest again{.target = "/app.js", .headers = {{"If-None-Match", "\"x\", " + tag}}};
  EXPECT_EQ(ask(*before, again)->status, 304u);
  EXPECT_EQ(ask(*before, again)->body, "");
  write("app.js", "let a = 2;");
  const auto after = read();
  ASSERT_TRUE(after) << after;
  EXPECT_EQ(ask(*after, again)->body, "let a = 2;");
}

TEST_F(HttpFilesTest, LongTextIsCompressedForThoseThatTakeIt) {
  const std::string text(10'000, 'x');
  write("app.css", text);
  write("short.css", "a{}");
  write("picture.png", text);
  const auto files = read();
  ASSERT_TRUE(files) << files;
  const auto zipped =
      ask(*files, {.target = "/app.css", .headers = {{"Accept-Encoding", "br, gzip;q=0.5"}}});
  EXPECT_EQ(zipped->headers.find("Content-Encoding"), "gzip");
  std::string opened;
  ASSERT_TRUE(gunzip(zipped->body, text.size(), opened));
  EXPECT_EQ(opened, text);
  EXPECT_EQ(get(*files, "/app.css")->body, text);
  for (const char* const target : {"/short.css", "/picture.png"}) {
    const auto whole = ask(*files, {.target = target, .headers = {{"Accept-Encoding", "gzip"}}});
    EXPECT_EQ(whole->headers.find("Content-Encoding"), "") << target;
  }
}

TEST_F(HttpFilesTest, FilesAreOnlyRead) {
  write("app.js", "let a = 1;");
  const auto files = read();
  ASSERT_TRUE(files) << files;
  EXPECT_EQ(ask(*files, {.method = "HEAD", .target = "/app.js"})->status, 200u);
  const auto refused = ask(*files, {.method = "POST", .target = "/app.js"});
  EXPECT_EQ(refused->status, 405u);
  EXPECT_EQ(refused->headers.find("Allow"), "GET, HEAD");
}

TEST_F(HttpFilesTest, HiddenFilesAndLinksThatLeaveTheFolderAreNotServed) {
  write(".env", "secret");
  fs::create_directories(web_ / ".git");
  write(".git/config", "secret");
  write("real.txt", "real");
  fs::create_symlink(web_ / "real.txt", web_ / "link.txt");
  const auto files = read();
  ASSERT_TRUE(files) << files;
  EXPECT_EQ(files->count(), 2u);
  EXPECT_EQ(get(*files, "/link.txt")->body, "real");
  std::ofstream(fs::path(folder_.path()) / "key.pem") << "secret";
  fs::create_symlink(fs::path(folder_.path()) / "key.pem", web_ / "key.txt");
  EXPECT_THAT(read(), fails_with(Code::permission_denied));
  EXPECT_THAT(read().error().message(), HasSubstr("key.txt is a link that leaves the folder"));
}

TEST_F(HttpFilesTest, AFolderIsNeitherMissingNorTooLarge) {
  EXPECT_THAT(HttpFiles::read((web_ / "missing").string()), fails_with(Code::not_found));
  write("one.txt", "1234");
  write("two.txt", "1234");
  EXPECT_TRUE(read({.count_max = 2, .bytes_max = 8}));
  EXPECT_THAT(read({.count_max = 1, .bytes_max = 8}), fails_with(Code::resource_exhausted));
  EXPECT_THAT(read({.count_max = 2, .bytes_max = 7}), fails_with(Code::resource_exhausted));
}

}  // namespace
}  // namespace corolane::net
