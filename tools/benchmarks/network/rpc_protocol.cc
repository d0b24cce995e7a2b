// SPDX-License-Identifier: MIT
// Requests are copies of one frame that differ in their call id, which is the slot.
#include <algorithm>
#include <cstring>
#include <string>

#include "net/stream.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/wire.pb.h"
#include "tools/benchmarks/echo.pb.h"
#include "tools/benchmarks/network/protocol.h"
#include "tools/benchmarks/network/rpc_requests.h"
#include "tools/benchmarks/network/wire_header.h"

namespace corolane::bench {
namespace {

constexpr std::uint8_t reply_type = static_cast<std::uint8_t>(rpc::FrameType::reply);
constexpr std::uint8_t refused_code = static_cast<std::uint8_t>(Code::resource_exhausted);
constexpr std::uint8_t hello_type = static_cast<std::uint8_t>(rpc::FrameType::hello);

void append_header(const rpc::FrameHeader& header, Bytes& out) {
  out.resize(out.size() + rpc::frame_header_size);
  rpc::encode(header, std::span(out).last<rpc::frame_header_size>());
}

class RpcProtocol final : public Protocol {
 public:
  explicit RpcProtocol(std::string_view method)
      : request_(rpc_request(method, std::chrono::seconds(1))),
        reply_(request_.begin() + rpc::frame_header_size, request_.end()) {}

  void append_greeting(Bytes& out) override { append_rpc_hello(out); }

  Result<std::size_t> take_greeting(std::span<const std::byte> input) override {
    WireHeader header;
    if (input.size() < sizeof header) return std::size_t{0};
    std::memcpy(&header, input.data(), sizeof header);
    if (header.type != hello_type) return wrong(header, input.subspan(sizeof header));
    const std::size_t size = sizeof header + header.payload_size;
    is_greeted_ = input.size() >= size;
    return is_greeted_ ? size : 0;
  }
  bool is_greeted() const override { return is_greeted_; }

  void append_requests(std::span<const Slot> slots, Bytes& out) override {
    out.reserve(slots.size() * request_.size());
    for (const Slot slot : slots) {
      const std::uint64_t call_id = slot;
      std::memcpy(request_.data() + offsetof(WireHeader, call_id), &call_id, sizeof call_id);
      out.insert(out.end(), request_.begin(), request_.end());
    }
  }

  Result<std::size_t> take_replies(std::span<const std::byte> input, Replies& replies) override {
    std::size_t taken_count = 0;
    for (WireHeader header; input.size() - taken_count >= sizeof header;) {
      const std::byte* const frame = input.data() + taken_count;
      std::memcpy(&header, frame, sizeof header);
      const std::size_t size = sizeof header + header.payload_size;
      if (input.size() - taken_count < size) break;
      taken_count += size;
      const std::span message(frame + sizeof header, header.payload_size);
      const bool is_refused = header.code == refused_code;
      const bool is_answered = header.code == 0 && std::ranges::equal(message, reply_);
      if (header.type != reply_type || !(is_answered || is_refused)) return wrong(header, message);
      const auto slot = static_cast<Slot>(header.call_id);
      (is_answered ? replies.answered : replies.refused).push_back(slot);
    }
    return taken_count;
  }

 private:
  static Error wrong(const WireHeader& header, std::span<const std::byte> message) {
    return Error(Code::internal,
                 "a frame of type " + std::to_string(header.type) + ", code " +
                     std::to_string(header.code) + " instead of the echo: " +
                     std::string(reinterpret_cast<const char*>(message.data()), message.size()));
  }

  bool is_greeted_ = false;
  Bytes request_;
  Bytes reply_;  // The expected message: request and reply are the same on the wire.
};

}  // namespace

Bytes rpc_request(std::string_view method, std::chrono::microseconds time_left,
                  std::size_t payload_bytes) {
  EchoRequest message;
  message.set_payload(std::string(payload_bytes, 'p'));
  return rpc_frame(method, time_left, message.SerializeAsString());
}

Bytes rpc_frame(std::string_view method, std::chrono::microseconds time_left,
                std::string_view message) {
  Bytes frame;
  append_header({.payload_size = static_cast<std::uint32_t>(message.size()),
                 .type = rpc::FrameType::request,
                 .method_id = rpc::method_id(method),
                 .time = static_cast<std::uint32_t>(time_left.count())},
                frame);
  const auto bytes = net::bytes_of(message);
  frame.insert(frame.end(), bytes.begin(), bytes.end());
  return frame;
}

void append_rpc_hello(Bytes& out, std::string_view token, bool keeps_session) {
  rpc::Hello hello;
  hello.set_token(std::string(token));
  hello.set_keeps_session(keeps_session);
  const std::string payload = hello.SerializeAsString();
  append_header({.payload_size = static_cast<std::uint32_t>(payload.size()),
                 .type = rpc::FrameType::hello,
                 .call_id = rpc::hello_magic,
                 .method_id = rpc::protocol_version},
                out);
  const auto bytes = net::bytes_of(payload);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::unique_ptr<Protocol> rpc_echo_protocol() {
  return std::make_unique<RpcProtocol>("corolane.bench.Echo/Echo");
}

std::unique_ptr<Protocol> rpc_park_protocol() {
  return std::make_unique<RpcProtocol>("corolane.bench.Echo/Park");
}

std::unique_ptr<Protocol> rpc_burn_protocol() {
  return std::make_unique<RpcProtocol>("corolane.bench.Echo/Burn");
}

}  // namespace corolane::bench
