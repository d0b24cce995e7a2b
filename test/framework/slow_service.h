// The service of slow.proto.
#pragma once

#include <chrono>

#include "coroutine/task.h"
#include "test/framework/slow.corolane.h"

namespace corolane::test {

class SlowService : public SlowBase {
 public:
  Result<WaitReply> wait(const WaitRequest& request, rpc::Context&) override {
    const std::chrono::milliseconds delay(request.milliseconds());
    if (auto slept = coroutine::sleep_for(delay); !slept) return slept.error();
    return WaitReply();
  }
};

inline WaitRequest wait_request(std::chrono::milliseconds delay) {
  WaitRequest request;
  request.set_milliseconds(static_cast<std::uint32_t>(delay.count()));
  return request;
}

}  // namespace corolane::test
