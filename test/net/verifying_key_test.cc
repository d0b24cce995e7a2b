// SPDX-License-Identifier: MIT
// The examples of the standards, and signatures that a forger may try.
#include "net/verifying_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include "coroutine/base/encoding.h"

namespace corolane::net {
namespace {

std::string decoded(std::string_view base64url) {
  return from_base64(base64url, Base64::url).value();
}

struct Example {
  Result<VerifyingKey> key;
  std::string text;
  std::string signature;
};

// RFC 7515, A.3.
Example p256_example() {
  return {.key = VerifyingKey::from_p256(decoded("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
                                         decoded("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")),
          .text =
              "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9"
              "leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
          .signature = decoded("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSA"
                               "pmWQxfKTUJqPP3-Kg6NU1Q")};
}

// RFC 8037, A.4.
Example ed25519_example() {
  return {.key = VerifyingKey::from_ed25519(decoded("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")),
          .text = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
          .signature = decoded("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5B"
                               "hVsPt9g7sVvpAr_MuM0KAg")};
}

TEST(VerifyingKeyTest, TheExamplesOfTheStandardsAreVerified) {
  for (const Example& example : {p256_example(), ed25519_example()}) {
    ASSERT_TRUE(example.key) << example.key;
    EXPECT_TRUE(example.key->has_signed(example.text, example.signature));
  }
}

TEST(VerifyingKeyTest, AnotherTextOrSignatureIsRefused) {
  for (const Example& example : {p256_example(), ed25519_example()}) {
    ASSERT_TRUE(example.key) << example.key;
    EXPECT_FALSE(example.key->has_signed(example.text + "x", example.signature));
    EXPECT_FALSE(example.key->has_signed(example.text, ""));
    EXPECT_FALSE(example.key->has_signed(example.text, example.signature.substr(1)));
    EXPECT_FALSE(example.key->has_signed(example.text, example.signature + '\0'));
    for (std::size_t index = 0; index < example.signature.size(); ++index) {
      std::string changed = example.signature;
      changed[index] = static_cast<char>(changed[index] ^ 1);
      EXPECT_FALSE(example.key->has_signed(example.text, changed)) << "byte " << index;
    }
  }
}

// RFC 8032, 5.1.7: the second half of a signature is below the order of the group. Here that order
// is added to the half of the example.
TEST(VerifyingKeyTest, ASecondEncodingOfASignatureIsRefused) {
  const Example example = ed25519_example();
  ASSERT_TRUE(example.key) << example.key;
  EXPECT_FALSE(example.key->has_signed(
      example.text, decoded("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6KLa6_pyZkOh9Vg8wkiO1V"
                            "hVsPt9g7sVvpAr_MuM0KEg")));
}

// With it, one signature would fit every text.
TEST(VerifyingKeyTest, AKeyOfASmallOrderVerifiesNothing) {
  std::string neutral(32, '\0');
  neutral.front() = '\1';
  const auto key = VerifyingKey::from_ed25519(neutral);
  ASSERT_TRUE(key) << key;
  EXPECT_FALSE(key->has_signed("any text", neutral + std::string(32, '\0')));
}

TEST(VerifyingKeyTest, ThreadsMayShareAKey) {
  for (const Example& example : {p256_example(), ed25519_example()}) {
    ASSERT_TRUE(example.key) << example.key;
    constexpr int round_count = 20;
    std::array<int, 4> verified_counts{};
    {
      std::array<std::jthread, verified_counts.size()> threads;
      for (std::size_t index = 0; index < threads.size(); ++index) {
        threads[index] = std::jthread([&example, &count = verified_counts[index]] {
          for (int round = 0; round < round_count; ++round) {
            if (example.key->has_signed(example.text, example.signature)) ++count;
          }
        });
      }
    }
    EXPECT_TRUE(
        std::ranges::all_of(verified_counts, [](int count) { return count == round_count; }));
  }
}

}  // namespace
}  // namespace corolane::net
