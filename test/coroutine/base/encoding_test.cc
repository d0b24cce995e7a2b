// SPDX-License-Identifier: MIT
#include "coroutine/base/encoding.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace corolane {
namespace {

TEST(HexTest, EachByteIsTwoLowerCaseDigits) {
  const std::array bytes = {std::byte{0x00}, std::byte{0x1f}, std::byte{0xab}, std::byte{0xff}};
  EXPECT_EQ(to_hex(bytes), "001fabff");
  EXPECT_EQ(to_hex("\xfe!"), "fe21");
  EXPECT_EQ(to_hex(""), "");
  std::string text = "%";
  append_hex(text, 0x0a);
  EXPECT_EQ(text, "%0a");
}

TEST(HexTest, DigitsAreReadAsFarAsThereIsRoom) {
  std::array<std::byte, 2> bytes{};
  EXPECT_TRUE(read_hex("12efrest", bytes));
  EXPECT_EQ(to_hex(bytes), "12ef");
}

TEST(HexTest, OtherCharactersAndAShortTextAreRefused) {
  std::array<std::byte, 2> bytes{};
  for (const char* text : {"", "12e", "12eF", "1 23", "12g0", "\xff\xff\xff\xff"}) {
    EXPECT_FALSE(read_hex(text, bytes)) << text;
  }
}

TEST(Base64Test, HasTheVectorsOfItsRfc) {
  // RFC 4648, 10.
  struct Vector {
    std::string_view bytes;
    std::string_view text;
  };
  for (const auto& [bytes, text] :
       {Vector{"", ""}, Vector{"f", "Zg=="}, Vector{"fo", "Zm8="}, Vector{"foo", "Zm9v"},
        Vector{"foob", "Zm9vYg=="}, Vector{"fooba", "Zm9vYmE="}, Vector{"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
    const std::string_view bare = text.substr(0, text.find('='));
    EXPECT_EQ(to_base64(bytes, Base64::url), bare);
    EXPECT_EQ(from_base64(bare, Base64::url), bytes);
  }
}

TEST(Base64Test, BothFormsCarryAllBytes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  for (std::size_t size = 250; size <= all.size(); ++size) {
    const std::string_view bytes = std::string_view(all).substr(0, size);
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    EXPECT_EQ(from_base64(to_base64(bytes, Base64::url), Base64::url), bytes);
  }
}

TEST(Base64Test, TheFormsDifferInTwoLettersAndThePadding) {
  EXPECT_EQ(to_base64("\xfb\xff\xfe\xff"), "+//+/w==");
  EXPECT_EQ(to_base64("\xfb\xff\xfe\xff", Base64::url), "-__-_w");
  EXPECT_EQ(from_base64("-__-_w"), std::nullopt);
  EXPECT_EQ(from_base64("+//+/w==", Base64::url), std::nullopt);
}

TEST(Base64Test, InvalidTextIsNotRead) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zm9vYg", "Zg==Zg==", "====", "Z===", "Zm9v\n\n\n\n",
                           " Zm9v   ", "Zm-_", "Zm9\xff", "=Zg="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

// Otherwise a signature over a text would say nothing about other texts for the same bytes.
TEST(Base64Test, LeftoverBitsAreZero) {
  EXPECT_EQ(from_base64("Zg=="), "f");
  EXPECT_EQ(from_base64("Zh=="), std::nullopt);
  EXPECT_EQ(from_base64("Zm8", Base64::url), "fo");
  EXPECT_EQ(from_base64("Zm9", Base64::url), std::nullopt);
}

TEST(Base64Test, EitherFormIsReadWhereBothAreAllowed) {
  std::string bytes;
  for (const char* text : {"+//+/w==", "+//+/w", "-__-_w", "-__-_w==", "+_/-/w"}) {
    EXPECT_TRUE(read_any_base64(text, bytes)) << text;
    EXPECT_EQ(bytes, "\xfb\xff\xfe\xff") << text;
  }
  for (const char* text : {"Z", "Zm9v=", "Z===", "Zm 9", "Zm9\xff"}) {
    EXPECT_FALSE(read_any_base64(text, bytes)) << text;
  }
}

}  // namespace
}  // namespace corolane
