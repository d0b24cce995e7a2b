// SPDX-License-Identifier: MIT
// The service of slow.proto.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "coroutine/task.h"
#include "test/framework/slow.corolane.h"

namespace corolane::test {

class SlowService : public SlowBase {
 public:
  Result<WaitReply> wait(const WaitRequest& request, rpc::Context&) override {
    const std::chrono::milliseconds delay(request.milliseconds());
    const auto slept = coroutine::sleep_for(delay);
    if (request.then_hang()) hang();
    if (request.then_keep_loop_milliseconds() > 0) {
      print("keeps the loop");
      std::this_thread::sleep_for(std::chrono::milliseconds(request.then_keep_loop_milliseconds()));
    }
    if (!slept) return slept.error();
    return WaitReply();
  }

 private:
  static void print(const char* line) {
    std::puts(line);
    std::fflush(stdout);
  }

  [[noreturn]] static void hang() {
    print("hangs");
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

inline WaitRequest keep_loop_request(std::chrono::milliseconds time) {
  WaitRequest request;
  request.set_then_keep_loop_milliseconds(static_cast<std::uint32_t>(time.count()));
  return request;
}

}  // namespace corolane::test
