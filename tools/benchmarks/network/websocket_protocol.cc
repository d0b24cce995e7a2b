// SPDX-License-Identifier: MIT
// The handshake and the frames of RFC 6455. All frames have 64 bytes, which need no extended
// length. The mask is the same in every frame: neither end checks that it changes.
#include <algorithm>
#include <array>
#include <string>

#include "net/stream.h"
#include "tools/benchmarks/network/protocol.h"
#include "tools/benchmarks/network/websocket_client.h"

namespace corolane::bench {
namespace {

constexpr std::byte final_binary{0x82};
constexpr std::byte masked{0x80};
constexpr std::byte length{echo_bytes};
constexpr std::array mask = {std::byte{0x37}, std::byte{0xfa}, std::byte{0x21}, std::byte{0x3d}};
constexpr std::byte content{'w'};

class WebSocketProtocol final : public Protocol {
 public:
  WebSocketProtocol() {
    request_ = {final_binary, masked | length};
    request_.insert(request_.end(), mask.begin(), mask.end());
    for (std::size_t index = 0; index < echo_bytes; ++index) {
      request_.push_back(content ^ mask[index % mask.size()]);
    }
    reply_ = {final_binary, length};
    reply_.insert(reply_.end(), echo_bytes, content);
  }

  void append_greeting(Bytes& out) override {
    const std::string request = websocket_request();
    const auto bytes = net::bytes_of(request);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }

  Result<std::size_t> take_greeting(std::span<const std::byte> input) override {
    const auto size = websocket_answer_size(input);
    is_greeted_ = size && *size > 0;
    return size;
  }
  bool is_greeted() const override { return is_greeted_; }

  void append_requests(std::span<const Slot> slots, Bytes& out) override {
    under_way_.push(slots);
    for (std::size_t count = slots.size(); count > 0; --count) {
      out.insert(out.end(), request_.begin(), request_.end());
    }
  }

  Result<std::size_t> take_replies(std::span<const std::byte> input, Replies& replies) override {
    std::size_t taken_count = 0;
    for (; input.size() - taken_count >= reply_.size(); taken_count += reply_.size()) {
      if (!std::ranges::equal(input.subspan(taken_count, reply_.size()), reply_)) {
        return Error(Code::internal, "the frame is not the echo of the request");
      }
      if (auto popped = under_way_.pop_to(replies.answered); !popped) return popped.error();
    }
    return taken_count;
  }

 private:
  bool is_greeted_ = false;
  Bytes request_;
  Bytes reply_;
  SlotQueue under_way_;
};

}  // namespace

std::unique_ptr<Protocol> websocket_protocol() { return std::make_unique<WebSocketProtocol>(); }

}  // namespace corolane::bench
