// SPDX-License-Identifier: MIT
#include "net/one_port/first_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/stream.h"

namespace corolane::net {
namespace {

using namespace std::string_view_literals;

using Matcher = Match (*)(std::span<const std::byte>);

// How many bytes it takes to say yes; 0 when it says no. It never changes its mind.
std::size_t bytes_to_yes(Matcher match, std::string_view text) {
  std::size_t decided_at = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const Match said = match(bytes_of(text.substr(0, size)));
    if (decided_at > 0) {
      EXPECT_EQ(said, Match::yes) << text << " at " << size;
    } else if (said == Match::yes) {
      decided_at = size;
    } else if (said == Match::no) {
      EXPECT_EQ(match(bytes_of(text)), Match::no) << text << " at " << size;
      return 0;
    }
  }
  return decided_at;
}

TEST(FirstBytesTest, TlsIsTheTypeAndTheVersionOfARecord) {
  EXPECT_EQ(bytes_to_yes(match_tls, "\x16\x03\x01\x02\x00\x01"sv), 3u);
  EXPECT_EQ(bytes_to_yes(match_tls, "\x16\x03\x03"sv), 3u);
  EXPECT_EQ(bytes_to_yes(match_tls, "\x16\x03\x00"sv), 0u) << "a size of 790 bytes";
  EXPECT_EQ(bytes_to_yes(match_tls, "\x16\x03\x05"sv), 0u);
  EXPECT_EQ(bytes_to_yes(match_tls, "\x15\x03\x01"sv), 0u);
  EXPECT_EQ(bytes_to_yes(match_tls, "GET / HTTP/1.1"), 0u);
}

TEST(FirstBytesTest, HttpIsAMethodAndASpace) {
  EXPECT_EQ(bytes_to_yes(match_http, "GET / HTTP/1.1\r\n"), 4u);
  EXPECT_EQ(bytes_to_yes(match_http, "POST /a.B/C HTTP/1.1\r\n"), 5u);
  EXPECT_EQ(bytes_to_yes(match_http, "M-SEARCH * HTTP/1.1\r\n"), 9u);
  EXPECT_EQ(bytes_to_yes(match_http, "UPDATEREDIRECTREF / HTTP/1.1\r\n"), 18u);
  for (const char* const text : {" GET / HTTP/1.1", "GET\r\n", "12 /", "RI /", "\r\n\r\n",
                                 "AMethodOfTwentyOneByt /", "SSH-2.0-OpenSSH_9.2"}) {
    EXPECT_EQ(bytes_to_yes(match_http, text), 0u) << text;
  }
  EXPECT_EQ(match_http(bytes_of("AMethodOfTwentyOneByt")), Match::no) << "needs no more to say no";
}

TEST(FirstBytesTest, Http2IsTheMethodOfItsPreface) {
  EXPECT_EQ(bytes_to_yes(match_http2, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 4u);
  for (const char* const text : {"POST / HTTP/1.1", "PUT /", "PRIVATE /", "GET /"}) {
    EXPECT_EQ(bytes_to_yes(match_http2, text), 0u) << text;
  }
}

TEST(FirstBytesTest, RefusalsAreWordsOfTheirProtocols) {
  EXPECT_EQ(refusal_by_tls(), "\x15\x03\x01\x00\x02\x02\x28"sv);
  EXPECT_EQ(refusal_by_http("this port speaks TLS: use https://"),
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
            "Connection: close\r\nContent-Length: 35\r\n\r\nthis port speaks TLS: use https://\n");
  EXPECT_EQ(refusal_by_http2("no"),
            "\x00\x00\x00\x04\x00\x00\x00\x00\x00"  // SETTINGS
            "\x00\x00\x0a\x07\x00\x00\x00\x00\x00"  // GOAWAY
            "\x00\x00\x00\x00\x00\x00\x00\x0d"
            "no"sv);  // HTTP_1_1_REQUIRED
}

}  // namespace
}  // namespace corolane::net
