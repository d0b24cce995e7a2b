// SPDX-License-Identifier: MIT
// The echo of the floor: every piece of input is sent back as it arrived.
#include "tools/benchmarks/floor/epoll_server.h"

namespace corolane::bench {
namespace {

class EchoAnswerer final : public Answerer {
 public:
  Answer answer(std::span<const std::byte> input) override {
    return {.taken_count = input.size(), .output = input};
  }
};

}  // namespace

Error serve_echo_floor(const Seat&) {
  EchoAnswerer answerer;
  return serve_by_epoll(answerer);
}

}  // namespace corolane::bench
