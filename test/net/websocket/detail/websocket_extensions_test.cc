// SPDX-License-Identifier: MIT
// Sec-WebSocket-Extensions: its grammar, and the answers to offers of permessage-deflate.
#include "net/websocket/detail/websocket_extensions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace corolane::net::detail {
namespace {

constexpr std::string_view both =
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

// Prints them as a header again; "malformed" when they are.
std::string printed(const HttpHeaders& headers) {
  const auto all = read_websocket_extensions(headers);
  if (!all) return "malformed";
  std::string text;
  for (const auto& [name, parameters] : *all) {
    text += (text.empty() ? "" : ",") + name;
    for (const auto& parameter : parameters) {
      text += ";" + parameter.name;
      if (parameter.value) text += "=" + *parameter.value;
    }
  }
  return text;
}
std::string printed(std::string_view header) {
  return printed(HttpHeaders{{"sec-websocket-extensions", std::string(header)}});
}

std::string answer_to(std::string_view offers) {
  const auto read = read_websocket_extensions({{"Sec-WebSocket-Extensions", std::string(offers)}});
  if (!read) return "malformed";
  const auto answer = accept_deflate_offer(*read);
  return answer ? answer->text : "";
}

TEST(WebSocketExtensionsTest, ListsAreRead) {
  EXPECT_EQ(printed(""), "");
  EXPECT_EQ(printed("a"), "a");
  EXPECT_EQ(printed(" a ; b = c ;d ,e;f=\"g\"\t"), "a;b=c;d,e;f=g");
  EXPECT_EQ(printed(",, a ,, b,"), "a,b");
  EXPECT_EQ(printed("a; b=\"c\\d\""), "a;b=cd");
  EXPECT_EQ(printed({{"Sec-WebSocket-Extensions", "a, b"},
                     {"Other", "x"},
                     {"Sec-WebSocket-Extensions", "c;d"}}),
            "a,b,c;d");
}

TEST(WebSocketExtensionsTest, WhatIsMalformedIsRefused) {
  for (const char* const header :
       {";", "a;", "a;;b", "a b", "a; b c", "a; b=", "a; =b", "a=b", "a; b=\"\"", "a; b=\"c",
        "a; b=\"c d\"", "a; b=\"c,d\"", "a; b=\"c\\", "a; b=\"c\"d", "\"a\"", "a/b", "a; b=c=d",
        "b\xc3\xb6"}) {
    EXPECT_EQ(printed(header), "malformed") << header;
  }
}

TEST(WebSocketExtensionsTest, OffersOfDeflateAreAccepted) {
  for (const char* const offer :
       {"permessage-deflate", "permessage-deflate; client_max_window_bits",
        "permessage-deflate; client_max_window_bits=8",
        "permessage-deflate; client_max_window_bits=\"15\"; client_no_context_takeover",
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
        "x-webkit-deflate-frame, permessage-deflate; client_max_window_bits"}) {
    EXPECT_EQ(answer_to(offer), both) << offer;
  }
  EXPECT_EQ(answer_to("permessage-deflate; server_max_window_bits=9"),
            std::string(both) + "; server_max_window_bits=9");
  EXPECT_EQ(answer_to("permessage-deflate; server_max_window_bits=\"15\""),
            std::string(both) + "; server_max_window_bits=15");
}

TEST(WebSocketExtensionsTest, TheFirstOfferThatCanBeAcceptedIs) {
  EXPECT_EQ(answer_to("permessage-deflate; server_max_window_bits=10, permessage-deflate"),
            std::string(both) + "; server_max_window_bits=10");
  EXPECT_EQ(answer_to("permessage-deflate; server_max_window_bits=8, permessage-deflate"), both);
  EXPECT_EQ(answer_to("permessage-deflate; unknown, permessage-deflate"), both);
}

TEST(WebSocketExtensionsTest, OtherOffersAreDeclined) {
  for (const char* const parameters :
       {"unknown", "server_no_context_takeover=1", "client_no_context_takeover=true",
        "server_no_context_takeover; server_no_context_takeover",
        "client_max_window_bits; client_max_window_bits=10", "server_max_window_bits",
        "server_max_window_bits=7", "server_max_window_bits=8", "server_max_window_bits=16",
        "server_max_window_bits=09", "server_max_window_bits=+9", "server_max_window_bits=x",
        "client_max_window_bits=7", "client_max_window_bits=16", "client_max_window_bits=010",
        "server_max_window_bits=10; server_max_window_bits=10"}) {
    EXPECT_EQ(answer_to(std::string("permessage-deflate; ") + parameters), "") << parameters;
  }
  EXPECT_EQ(answer_to("permessage-bzip2"), "");
  EXPECT_EQ(answer_to(""), "");
}

TEST(WebSocketExtensionsTest, TheWindowThatWasAskedForIsUsed) {
  const auto offers = read_websocket_extensions(
      {{"Sec-WebSocket-Extensions", "permessage-deflate; server_max_window_bits=11"}});
  EXPECT_EQ(accept_deflate_offer(*offers)->deflate.window_bits, 11);
}

TEST(WebSocketExtensionsTest, AClientChecksTheAnswerToItsOffer) {
  const auto is_right = [](std::string_view answer) {
    const auto read =
        read_websocket_extensions({{"Sec-WebSocket-Extensions", std::string(answer)}});
    return read_deflate_answer(read->at(0)).has_value();
  };
  EXPECT_TRUE(is_right(both));
  EXPECT_TRUE(is_right("permessage-deflate; server_no_context_takeover"));
  EXPECT_TRUE(is_right("permessage-deflate; server_no_context_takeover; server_max_window_bits=8"));
  for (const char* const wrong :
       {"permessage-deflate", "permessage-bzip2; server_no_context_takeover",
        "permessage-deflate; server_no_context_takeover; client_max_window_bits=10",
        "permessage-deflate; server_no_context_takeover; server_max_window_bits",
        "permessage-deflate; server_no_context_takeover; unknown",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover"}) {
    EXPECT_FALSE(is_right(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace corolane::net::detail
