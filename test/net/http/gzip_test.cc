// SPDX-License-Identifier: MIT
#include "net/http/gzip.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "coroutine/testing/matchers.h"

namespace corolane::net {
namespace {

std::string zipped(std::string_view content) {
  std::string result;
  gzip(content, result);
  return result;
}

TEST(GzipTest, CompressedTextIsReadBack) {
  for (const std::string& content :
       {std::string(), std::string("x"), std::string(100'000, 'x'), std::string(3, '\0')}) {
    std::string read = "before ";
    ASSERT_TRUE(gunzip(zipped(content), content.size(), read));
    EXPECT_EQ(read, "before " + content);
  }
}

TEST(GzipTest, AnythingElseIsRefused) {
  const std::string good = zipped("hello, hello, hello");
  std::string read;
  EXPECT_THAT(gunzip("", 100, read), fails_with(Code::invalid_argument));
  EXPECT_THAT(gunzip("hello", 100, read), fails_with(Code::invalid_argument));
  EXPECT_THAT(gunzip(good + "x", 100, read), fails_with(Code::invalid_argument));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(gunzip(good.substr(0, size), 100, read), fails_with(Code::invalid_argument));
  }
  std::string broken = good;
  broken[good.size() - 6] ^= 1;  // In the checksum.
  EXPECT_THAT(gunzip(broken, 100, read), fails_with(Code::invalid_argument));
}

TEST(GzipTest, ABombIsReadNoFurtherThanItsLimit) {
  const std::string bomb = zipped(std::string(10'000'000, '\0'));
  EXPECT_LT(bomb.size(), 100'000u);
  std::string read;
  EXPECT_THAT(gunzip(bomb, 1000, read), fails_with(Code::resource_exhausted));
  EXPECT_LE(read.capacity(), 64u * 1024);
}

}  // namespace
}  // namespace corolane::net
