// SPDX-License-Identifier: MIT
#include "net/crypto.h"

#include <gtest/gtest.h>

#include <string>

#include "coroutine/base/encoding.h"
#include "net/stream.h"

namespace corolane::net {
namespace {

TEST(CryptoTest, AnHmacHasTheVectorOfItsRfc) {
  // RFC 4231, 4.3.
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", {"what do ya want ", "", "for nothing?"})),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(CryptoTest, ASha1HasTheVectorOfItsStandard) {
  EXPECT_EQ(to_hex(sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST(CryptoTest, EqualBytesHaveTheSameSize) {
  EXPECT_TRUE(equal_in_constant_time(bytes_of("same"), bytes_of("same")));
  EXPECT_FALSE(equal_in_constant_time(bytes_of("same"), bytes_of("sama")));
  EXPECT_FALSE(equal_in_constant_time(bytes_of("same"), bytes_of("sam")));
  EXPECT_TRUE(equal_in_constant_time({}, {}));
}

TEST(CryptoTest, RandomTextsDiffer) {
  EXPECT_EQ(random_text(16).size(), 16u);
  EXPECT_NE(random_text(16), random_text(16));
}

}  // namespace
}  // namespace corolane::net
