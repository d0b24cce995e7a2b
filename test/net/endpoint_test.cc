// SPDX-License-Identifier: MIT
#include "net/endpoint.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "coroutine/testing/matchers.h"

namespace corolane::net {
namespace {

using test::fails_with;

TEST(EndpointTest, IPv6IsWrittenInBrackets) {
  EXPECT_EQ(to_string(Endpoint{.address = "127.0.0.1", .port = 8460}), "127.0.0.1:8460");
  EXPECT_EQ(to_string(Endpoint{.address = "::1", .port = 8460}), "[::1]:8460");
  std::ostringstream out;
  out << Endpoint{.address = "10.0.0.1", .port = 1};
  EXPECT_EQ(out.str(), "10.0.0.1:1");
}

TEST(EndpointTest, WrittenEndpointsAreReadBack) {
  for (const Endpoint& endpoint :
       {Endpoint{.address = "127.0.0.1", .port = 0}, Endpoint{.address = "::", .port = 65535},
        Endpoint{.address = "unix:/run/chess.sock"}, Endpoint{.address = "unix:@chess"}}) {
    const auto parsed = parse_endpoint(to_string(endpoint));
    ASSERT_TRUE(parsed) << parsed;
    EXPECT_EQ(*parsed, endpoint);
  }
}

TEST(EndpointTest, OneAddressHasOneText) {
  const auto parsed = parse_endpoint("[0:0:0::1]:80");
  ASSERT_TRUE(parsed) << parsed;
  EXPECT_EQ(parsed->address, "::1");
}

TEST(EndpointTest, NamesAreHostsButNotEndpoints) {
  const auto host = parse_host_port("example.org:80");
  ASSERT_TRUE(host) << host;
  EXPECT_EQ(host->host, "example.org");
  EXPECT_EQ(host->port, 80);
  EXPECT_THAT(parse_endpoint("example.org:80"), fails_with(Code::invalid_argument));
}

TEST(EndpointTest, AUnixSocketIsAHostWithoutAPort) {
  for (const char* text : {"unix:/run/chess.sock", "unix:@chess", "unix:/run/with:80"}) {
    const auto host = parse_host_port(text);
    ASSERT_TRUE(host) << host;
    EXPECT_EQ(host->host, text);
    EXPECT_EQ(host->port, 0);
  }
}

TEST(EndpointTest, AHostMayBeCalledUnix) {
  const auto host = parse_host_port("unix:80");
  ASSERT_TRUE(host) << host;
  EXPECT_EQ(host->host, "unix");
  EXPECT_EQ(host->port, 80);
}

TEST(EndpointTest, APathThatIsTooLongForTheKernelIsRefused) {
  const std::string too_long = "unix:/" + std::string(107, 'x');
  EXPECT_THAT(parse_host_port(too_long), fails_with(Code::invalid_argument));
  EXPECT_THAT(parse_endpoint(too_long), fails_with(Code::invalid_argument));
}

TEST(EndpointTest, ParsingRemovesTheBracketsOfAHost) {
  const auto host = parse_host_port("[fe80::1]:443");
  ASSERT_TRUE(host) << host;
  EXPECT_EQ(host->host, "fe80::1");
  EXPECT_EQ(host->port, 443);
}

TEST(EndpointTest, EveryOtherFormIsRefusedAndTheErrorShowsTheRightOne) {
  for (const char* text :
       {"",         ":",       "8460",       "host",      "host:", ":80",        "host:x",
        "host:80x", "host:-1", "host:65536", "host: 80",  "unix:", "unix:run/a", "unix:/",
        "::1:80",   "[::1]",   "[::1]80",    "[host]:80", "[::1",  "[]:80"}) {
    const auto parsed = parse_host_port(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), Code::invalid_argument);
    EXPECT_NE(parsed.error().message().find("write "), std::string::npos);
  }
}

}  // namespace
}  // namespace corolane::net
