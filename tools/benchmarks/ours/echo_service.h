// SPDX-License-Identifier: MIT
// The service of our servers: it echoes the payload.
#pragma once

#include <chrono>
#include <ctime>

#include "coroutine/task.h"
#include "tools/benchmarks/echo.corolane.h"
#include "tools/benchmarks/ours/burn.h"

namespace corolane::bench {

class EchoService final : public EchoBase {
 public:
  Result<EchoReply> echo(const EchoRequest& request, rpc::Context&) override {
    return reply(request);
  }

  Result<EchoReply> park(const EchoRequest& request, rpc::Context&) override {
    if (auto resumed = coroutine::yield(); !resumed) return resumed.error();
    return reply(request);
  }

  Result<EchoReply> burn(const EchoRequest& request, rpc::Context&) override {
    const auto end = thread_cpu_time() + burn_time_of_servers;
    while (thread_cpu_time() < end) {
    }
    return reply(request);
  }

 private:
  static std::chrono::nanoseconds thread_cpu_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  static EchoReply reply(const EchoRequest& request) {
    EchoReply reply;
    reply.set_payload(request.payload());
    return reply;
  }
};

}  // namespace corolane::bench
