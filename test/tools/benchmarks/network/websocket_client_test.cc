// SPDX-License-Identifier: MIT
// Frames of any size, whole and in part.
#include "tools/benchmarks/network/websocket_client.h"

#include <gtest/gtest.h>

#include "coroutine/testing/matchers.h"
#include "net/stream.h"

namespace corolane::bench {
namespace {

using test::fails_with;

// What a client says, without its mask: what a server sends.
Bytes server_frame(std::size_t payload_bytes) {
  constexpr std::size_t mask_bytes = 4;
  Bytes frame;
  append_websocket_frame(websocket_binary_opcode, Bytes(payload_bytes, std::byte{'s'}), frame);
  frame[1] &= std::byte{0x7f};
  const auto mask = frame.end() - static_cast<std::ptrdiff_t>(payload_bytes + mask_bytes);
  frame.erase(mask, mask + mask_bytes);
  return frame;
}

TEST(WebSocketClientTest, AFrameOfAnySizeIsFoundOnceItIsWhole) {
  for (const std::size_t payload_bytes : {0, 1, 125, 126, 65'535, 65'536}) {
    Bytes input = server_frame(payload_bytes);
    const WebSocketFrame frame = first_websocket_frame(input);
    EXPECT_EQ(frame.size, input.size());
    EXPECT_EQ(frame.opcode, websocket_binary_opcode);
    EXPECT_EQ(frame.payload.size(), payload_bytes);
    input.pop_back();
    EXPECT_EQ(first_websocket_frame(input).size, 0);
  }
}

TEST(WebSocketClientTest, OnlyAnUpgradeOpensAWebSocket) {
  const std::string_view accepted =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
  EXPECT_EQ(websocket_answer_size(net::bytes_of(accepted)).value(), accepted.size());
  EXPECT_EQ(websocket_answer_size(net::bytes_of(accepted.substr(0, 40))).value(), 0);
  EXPECT_THAT(websocket_answer_size(net::bytes_of("HTTP/1.1 404 Not Found\r\n\r\n")),
              fails_with(Code::internal));
}

}  // namespace
}  // namespace corolane::bench
