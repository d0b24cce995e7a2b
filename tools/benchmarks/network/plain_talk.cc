// SPDX-License-Identifier: MIT
// Messages that mean nothing but their size.
#include "rpc/wire/frame.h"
#include "tools/benchmarks/network/talk.h"

namespace corolane::bench {
namespace {

class PlainTalk final : public Talk {
 public:
  explicit PlainTalk(std::size_t message_bytes) : message_(message_bytes, std::byte{'w'}) {}

  bool is_open_at_once() const override { return true; }
  void append_request(std::size_t, Bytes& out) override {
    out.insert(out.end(), message_.begin(), message_.end());
  }
  void append_acknowledgement(std::size_t, Bytes& out) override {
    out.insert(out.end(), rpc::frame_header_size, std::byte{0});
  }
  Result<void> hear(std::size_t, std::span<const std::byte> message, Heard& heard,
                    Bytes&) override {
    if (message.size() != message_.size()) {
      return Error(Code::internal, "a message of " + std::to_string(message.size()) +
                                       " bytes instead of " + std::to_string(message_.size()));
    }
    ++heard.news_count;
    return {};
  }

 private:
  const Bytes message_;
};

}  // namespace

MakeTalk plain_talk(std::size_t message_bytes) {
  return [message_bytes](std::uint16_t) -> Result<std::unique_ptr<Talk>> {
    return std::make_unique<PlainTalk>(message_bytes);
  };
}

}  // namespace corolane::bench
