// SPDX-License-Identifier: MIT
#include "framework/node/shard_loops.h"

#include <pthread.h>

#include <string>
#include <thread>
#include <utility>

#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"

namespace corolane::framework {
namespace {

class ThreadLoop final : public ShardLoop {
 public:
  explicit ThreadLoop(std::function<void()> main) : thread_(std::move(main)) {}
  ~ThreadLoop() override { thread_.join(); }

 private:
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ShardLoop> ThreadLoops::begin(std::size_t shard,
                                              const coroutine::Scheduler::Options& options,
                                              Body body, OnEnd on_end) {
  return std::make_unique<ThreadLoop>(
      [shard, options, body = std::move(body), on_end = std::move(on_end)] {
        ::pthread_setname_np(::pthread_self(), ("shard " + std::to_string(shard)).c_str());
        Result<void> ran;
        {
          net::EventLoop loop;
          net::UvNetwork network(loop);
          coroutine::Scheduler scheduler(loop, options);
          ran = scheduler.run("shard", [&] { body(network); });
        }
        on_end(ran);
      });
}

}  // namespace corolane::framework
