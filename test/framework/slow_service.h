// The service of slow.proto.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "coroutine/task.h"
#include "test/framework/slow.corolane.h"

namespace corolane::test {

class SlowService : public SlowBase {
 public:
  Result<WaitReply> wait(const WaitRequest& request, rpc::Context&) override {
    const std::chrono::milliseconds delay(request.milliseconds());
    const auto slept = coroutine::sleep_for(delay);
    if (request.then_hang()) hang();
    if (!slept) return slept.error();
    return WaitReply();
  }

 private:
  [[noreturn]] static void hang() {
    std::puts("hangs");
    std::fflush(stdout);
    for (volatile bool for_ever = true; for_ever;) {
    }
    std::abort();
  }
};

inline WaitRequest wait_request(std::chrono::milliseconds delay) {
  WaitRequest request;
  request.set_milliseconds(static_cast<std::uint32_t>(delay.count()));
  return request;
}

inline WaitRequest hang_request(std::chrono::milliseconds delay) {
  WaitRequest request = wait_request(delay);
  request.set_then_hang(true);
  return request;
}

}  // namespace corolane::test
