// SPDX-License-Identifier: MIT
#include "net/detail/socket_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "coroutine/testing/matchers.h"

namespace corolane::net::detail {
namespace {

using test::fails_with;
using testing::HasSubstr;

TEST(SocketAddressTest, AddressesSurviveTheRoundTripThroughTheKernelsFormat) {
  for (const Endpoint& endpoint :
       {Endpoint{.address = "192.0.2.7", .port = 80}, Endpoint{.address = "2001:db8::7", .port = 1},
        Endpoint{.address = "unix:/run/chess.sock"}, Endpoint{.address = "unix:@chess"},
        Endpoint{.address = "unix:@chess.sock/with@signs"}}) {
    const auto address = to_socket_address(endpoint);
    ASSERT_TRUE(address) << address;
    EXPECT_EQ(to_endpoint(*address), endpoint);
  }
}

TEST(SocketAddressTest, AUnixPathHasALimitAndTheErrorStatesIt) {
  const std::string longest = "unix:/" + std::string(106, 'x');
  const auto fits = to_socket_address({.address = longest});
  ASSERT_TRUE(fits) << fits;
  EXPECT_EQ(to_endpoint(*fits).address, longest);
  const auto too_long = to_socket_address({.address = longest + "x"});
  ASSERT_THAT(too_long, fails_with(Code::invalid_argument));
  EXPECT_THAT(too_long.error().message(), HasSubstr("108 bytes, at most 107"));

  const std::string longest_name = "unix:@" + std::string(106, 'x');
  const auto name_fits = to_socket_address({.address = longest_name});
  ASSERT_TRUE(name_fits) << name_fits;
  EXPECT_EQ(to_endpoint(*name_fits).address, longest_name);
  EXPECT_THAT(to_socket_address({.address = longest_name + "x"}),
              fails_with(Code::invalid_argument));
}

TEST(SocketAddressTest, AUnixSocketHasAnAbsolutePathOrAName) {
  const std::string with_zero("unix:/run/a\0b", 13);
  for (const std::string& text : {std::string("unix:"), std::string("unix:@"),
                                  std::string("unix:/"), std::string("unix:run/a"), with_zero}) {
    EXPECT_THAT(to_socket_address({.address = text}), fails_with(Code::invalid_argument)) << text;
  }
}

}  // namespace
}  // namespace corolane::net::detail
