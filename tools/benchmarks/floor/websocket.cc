// SPDX-License-Identifier: MIT
// WebSockets by the bare codec: a message is decoded, and its answer encoded into one write. There
// is no task, no timer and no limit but that of a message.
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/base/encoding.h"
#include "net/crypto.h"
#include "net/stream.h"
#include "net/websocket/detail/websocket_codec.h"
#include "tools/benchmarks/floor/epoll_server.h"
#include "tools/benchmarks/network/http_text.h"
#include "tools/benchmarks/network/protocol.h"
#include "tools/benchmarks/network/talk.h"

namespace corolane::bench {
namespace {

using net::detail::WebSocketDecoder;
using net::detail::WebSocketOpcode;

constexpr WebSocketDecoder::Limits limits{.message_bytes_max = 64 * 1024,
                                          .fragment_count_max = 1'024};
// Requests begin with it, and no frame of a client does.
constexpr std::byte first_of_request{'G'};

void append_message(std::span<const std::byte> payload, Bytes& out) {
  std::array<std::byte, net::detail::websocket_header_bytes_max> header;
  const std::size_t size = net::detail::encode_websocket_header(WebSocketOpcode::binary,
                                                                payload.size(), nullptr, header);
  out.insert(out.end(), header.begin(), header.begin() + static_cast<std::ptrdiff_t>(size));
  out.insert(out.end(), payload.begin(), payload.end());
}

// Decodes whole messages. One that has come in part is decoded again, from its beginning.
class WebSocketAnswerer : public Answerer {
 public:
  Answer answer(std::span<const std::byte> input) final {
    output_.clear();
    if (!input.empty() && input.front() == first_of_request) return answer_request(input);
    WebSocketDecoder decoder(/*expects_mask=*/true, limits);
    decoder.feed(input);
    std::size_t left_count = input.size();
    bool is_for_all = false;
    for (net::detail::WebSocketEvent event;;) {
      const auto has_event = decoder.next(event);
      if (!has_event || !*has_event) break;
      is_for_all = answer_message(event.payload, output_) || is_for_all;
      const auto rest = decoder.rest();
      decoder.feed(rest);
      left_count = rest.size();
    }
    return {.taken_count = input.size() - left_count, .output = output_, .is_for_all = is_for_all};
  }

 private:
  // Appends the answer, and returns whether it is for all connections.
  virtual bool answer_message(std::span<const std::byte> payload, Bytes& output) = 0;

  // Answers the request of a generator, which has a key and asks for nothing else.
  Answer answer_request(std::span<const std::byte> input) {
    constexpr std::string_view key_name = "Sec-WebSocket-Key: ";
    constexpr std::string_view key_suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
    const std::size_t size = http_message_size(text);
    const std::size_t key_place = text.find(key_name);
    if (size == 0 || key_place == std::string_view::npos) return {};
    const std::string_view rest = text.substr(key_place + key_name.size());
    const std::string key(rest.substr(0, rest.find("\r\n")));
    const auto digest = net::sha1(key + std::string(key_suffix));
    const std::string answer =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: " +
        to_base64(std::span<const std::byte>(digest)) + "\r\n\r\n";
    const auto bytes = net::bytes_of(answer);
    output_.assign(bytes.begin(), bytes.end());
    return {.taken_count = size, .output = output_};
  }

  Bytes output_;
};

class MessageEcho final : public WebSocketAnswerer {
  bool answer_message(std::span<const std::byte> payload, Bytes& output) override {
    append_message(payload, output);
    return false;
  }
};

// Its frame is ready, and other messages are acknowledgements.
class PublishingAnswerer final : public WebSocketAnswerer {
 public:
  PublishingAnswerer() { append_message(Bytes(publication_bytes, std::byte{'p'}), frame_); }

 private:
  bool answer_message(std::span<const std::byte> payload, Bytes& output) override {
    if (payload.size() != publication_bytes) return false;
    output.insert(output.end(), frame_.begin(), frame_.end());
    return true;
  }

  Bytes frame_;
};

}  // namespace

Error serve_websocket_floor(const Seat&) {
  MessageEcho answerer;
  return serve_by_epoll(answerer);
}

Error serve_publishing_floor(const Seat&) {
  PublishingAnswerer answerer;
  return serve_by_epoll(answerer);
}

}  // namespace corolane::bench
