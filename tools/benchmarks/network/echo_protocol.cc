// SPDX-License-Identifier: MIT
// Echo, and the order in which its slots are answered.
#include <algorithm>
#include <array>

#include "tools/benchmarks/network/protocol.h"

namespace corolane::bench {
namespace {

class EchoProtocol final : public Protocol {
 public:
  EchoProtocol() { message_.fill(std::byte{'e'}); }

  void append_requests(std::span<const Slot> slots, Bytes& out) override {
    under_way_.push(slots);
    for (std::size_t count = slots.size(); count > 0; --count) {
      out.insert(out.end(), message_.begin(), message_.end());
    }
  }

  Result<std::size_t> take_replies(std::span<const std::byte> input, Replies& replies) override {
    std::size_t taken_count = 0;
    for (; input.size() - taken_count >= message_.size(); taken_count += message_.size()) {
      if (!std::ranges::equal(input.subspan(taken_count, message_.size()), message_)) {
        return Error(Code::internal, "the echo differs from the request");
      }
      if (auto popped = under_way_.pop_to(replies.answered); !popped) return popped.error();
    }
    return taken_count;
  }

 private:
  std::array<std::byte, echo_bytes> message_;
  SlotQueue under_way_;
};

}  // namespace

Result<void> SlotQueue::pop_to(std::vector<Slot>& answered) {
  if (slots_.empty()) return Error(Code::internal, "a reply without a request");
  answered.push_back(slots_.front());
  slots_.pop_front();
  return {};
}

std::unique_ptr<Protocol> echo_protocol() { return std::make_unique<EchoProtocol>(); }

}  // namespace corolane::bench
