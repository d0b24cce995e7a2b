// SPDX-License-Identifier: MIT
// A client asks for a seat by HTTP, opens a WebSocket at its room, and confirms that it has joined.
#include "tools/benchmarks/network/colyseus_talk.h"

#include <poll.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "net/stream.h"
#include "tools/benchmarks/network/http_text.h"
#include "tools/benchmarks/network/socket.h"

namespace corolane::bench {
namespace {

// The first byte of a message.
constexpr std::byte join_room{10};
constexpr std::byte room_data_bytes{17};
// Behind it the type "m", as a string of MessagePack.
constexpr std::array message_head = {room_data_bytes, std::byte{0xa1}, std::byte{'m'}};

constexpr int patience_ms = 10'000;

constexpr std::string_view seat_request =
    "POST /matchmake/joinOrCreate/bench HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

// Sends the request over a connection that stays open, and returns the body of the answer.
Result<std::string> ask(int socket, std::string_view request) {
  const auto sent = write_now(socket, net::bytes_of(request));
  if (!sent) return sent.error();
  std::string text;
  for (;;) {
    pollfd ready{.fd = socket, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, patience_ms) <= 0)
      return Error(Code::unavailable, "no seat for a client");
    std::array<std::byte, 4'096> buffer;
    const auto count = read_now(socket, buffer);
    if (!count) return count.error();
    text.append(reinterpret_cast<const char*>(buffer.data()), *count);
    if (http_message_size(text) > 0) return text.substr(text.find("\r\n\r\n") + 4);
  }
}

class ColyseusTalk final : public Talk {
 public:
  ColyseusTalk(Descriptor lobby, std::size_t message_bytes)
      : lobby_(std::move(lobby)), message_(message_head.begin(), message_head.end()) {
    message_.insert(message_.end(), message_bytes, std::byte{'c'});
  }

  Result<std::string> target(std::size_t) override {
    const auto body = ask(lobby_.number(), seat_request);
    if (!body) return body;
    const auto seat = nlohmann::json::parse(*body, nullptr, /*allow_exceptions=*/false);
    if (!seat.is_object() || !seat.contains("roomId")) {
      return Error(Code::internal, "no seat for a client: " + *body);
    }
    return "/" + seat.value("processId", "") + "/" + seat.value("roomId", "") +
           "?sessionId=" + seat.value("sessionId", "");
  }
  void append_request(std::size_t, Bytes& out) override {
    out.insert(out.end(), message_.begin(), message_.end());
  }
  void append_acknowledgement(std::size_t, Bytes& out) override {
    out.insert(out.end(), message_head.begin(), message_head.end());
  }
  Result<void> hear(std::size_t, std::span<const std::byte> message, Heard& heard,
                    Bytes& answer) override {
    if (message.empty()) return {};
    if (message.front() == join_room) {
      answer.push_back(join_room);
      ++heard.open_count;
    } else if (message.front() == room_data_bytes) {
      if (message.size() != message_.size()) return Error(Code::internal, "a strange message");
      ++heard.news_count;
    }
    return {};
  }

 private:
  const Descriptor lobby_;
  Bytes message_;
};

}  // namespace

MakeTalk colyseus_talk(std::size_t message_bytes) {
  return [message_bytes](std::uint16_t port) -> Result<std::unique_ptr<Talk>> {
    auto lobby = connect_to_loopback(port);
    if (!lobby) return lobby.error();
    return std::make_unique<ColyseusTalk>(std::move(*lobby), message_bytes);
  };
}

}  // namespace corolane::bench
