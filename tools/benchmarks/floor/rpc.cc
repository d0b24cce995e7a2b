// SPDX-License-Identifier: MIT
// A call is a request parsed on an arena and a reply built there; the replies to all requests of
// one read go out in one write. Every method is answered as Echo.
#include <google/protobuf/arena.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "rpc/wire/frame.h"
#include "tools/benchmarks/echo.pb.h"
#include "tools/benchmarks/floor/epoll_server.h"
#include "tools/benchmarks/network/rpc_requests.h"
#include "tools/benchmarks/network/wire_header.h"

namespace corolane::bench {
namespace {

constexpr std::uint8_t request_type = static_cast<std::uint8_t>(rpc::FrameType::request);

class RpcAnswerer final : public Answerer {
 public:
  RpcAnswerer() : arena_(arena_options()) { append_rpc_hello(greeting_); }

  std::span<const std::byte> greeting() const override { return greeting_; }

  Answer answer(std::span<const std::byte> input) override {
    output_size_ = 0;
    std::size_t taken_count = 0;
    for (WireHeader header; input.size() - taken_count >= sizeof header;) {
      const std::byte* const frame = input.data() + taken_count;
      std::memcpy(&header, frame, sizeof header);
      const std::size_t size = sizeof header + header.payload_size;
      if (input.size() - taken_count < size) break;
      taken_count += size;
      if (header.type == request_type) call(header, frame + sizeof header);
    }
    return {.taken_count = taken_count, .output = std::span(output_).first(output_size_)};
  }

 private:
  google::protobuf::ArenaOptions arena_options() {
    google::protobuf::ArenaOptions options;
    options.initial_block = arena_block_.data();
    options.initial_block_size = arena_block_.size();
    return options;
  }

  void call(const WireHeader& request_header, const std::byte* message) {
    using google::protobuf::Arena;
    auto* const request = Arena::CreateMessage<EchoRequest>(&arena_);
    if (request->ParseFromArray(message, static_cast<int>(request_header.payload_size))) {
      auto* const reply = Arena::CreateMessage<EchoReply>(&arena_);
      reply->set_payload(request->payload());
      append_reply(request_header.call_id, *reply);
    }
    arena_.Reset();
  }

  void append_reply(std::uint64_t call_id, const EchoReply& reply) {
    const std::size_t size = reply.ByteSizeLong();
    const WireHeader header{.payload_size = static_cast<std::uint32_t>(size),
                            .type = static_cast<std::uint8_t>(rpc::FrameType::reply),
                            .call_id = call_id};
    const std::size_t begin = output_size_;
    output_size_ += sizeof header + size;
    if (output_.size() < output_size_) output_.resize(output_size_ * 2);
    std::memcpy(output_.data() + begin, &header, sizeof header);
    reply.SerializeWithCachedSizesToArray(
        reinterpret_cast<std::uint8_t*>(output_.data() + begin + sizeof header));
  }

  Bytes greeting_;
  Bytes output_;
  std::size_t output_size_ = 0;
  std::array<char, 1024> arena_block_;
  google::protobuf::Arena arena_;
};

}  // namespace

Error serve_rpc_floor(const Seat&) {
  RpcAnswerer answerer;
  return serve_by_epoll(answerer);
}

}  // namespace corolane::bench
