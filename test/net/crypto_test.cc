#include "net/crypto.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "net/stream.h"

namespace corolane::net {
namespace {

TEST(Base64Test, HasTheVectorsOfItsRfc) {
  // RFC 4648, 10.
  struct Vector {
    std::string_view bytes;
    std::string_view text;
  };
  for (const auto& [bytes, text] :
       {Vector{"", ""}, Vector{"f", "Zg=="}, Vector{"fo", "Zm8="}, Vector{"foo", "Zm9v"},
        Vector{"foob", "Zm9vYg=="}, Vector{"fooba", "Zm9vYmE="}, Vector{"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(to_base64(bytes_of(bytes)), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64Test, CarriesAllBytes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(from_base64(to_base64(bytes_of(all))), all);
}

TEST(Base64Test, InvalidTextIsNotRead) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zm9vYg", "Zg==Zg==", "====", "Z===", "Zm9v\n\n\n\n",
                           " Zm9v   ", "Zm-_", "Zm9\xff", "=Zg="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace corolane::net
