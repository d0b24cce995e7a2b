// SPDX-License-Identifier: MIT
#include "framework/node/detail/shard_thread.h"

#include <pthread.h>

#include <string>
#include <utility>

#include "coroutine/wait_queue.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"

namespace corolane::framework::detail {
namespace {

// These tasks construct services and gather pages, which have deep frames. When the load has taken
// every stack, pages and shutdown must still work.
constexpr coroutine::TaskOptions node_work = {.stack_size_bytes = 256 * 1024,
                                              .purpose = coroutine::StackPool::Purpose::control};

}  // namespace

using coroutine::Cancellation;

ShardThread::ShardThread(std::size_t index, const Shard::Surroundings& surroundings,
                         const coroutine::Scheduler::Options& options)
    : index_(index),
      surroundings_(surroundings),
      home_(coroutine::Scheduler::current()),
      thread_([this, options] { main(options); }) {}

ShardThread::~ShardThread() {
  static_cast<void>(wait_until_ready());
  if (is_ready_) scheduler_->post([this] { stop_->set(); });
  while (!has_ended_) changed_.wait(Deadline::never(), Cancellation::ignore);
  thread_.join();
}

void ShardThread::main(const coroutine::Scheduler::Options& options) {
  ::pthread_setname_np(::pthread_self(), ("shard " + std::to_string(index_)).c_str());
  Result<void> ran;
  {
    net::EventLoop loop;
    net::UvNetwork network(loop);
    coroutine::Scheduler scheduler(loop, options);
    ran = scheduler.run("shard", [this, &network] { live(network); });
  }
  home_.post([this, ran] {
    has_ended_ = true;
    if (!ran) failure_ = ran;
    changed_.notify_all();
  });
}

void ShardThread::live(net::Network& network) {
  Shard shard(index_, surroundings_, network);
  coroutine::TaskGroup tasks;
  coroutine::Event stop("the end of the node");
  home_.post([this, &shard, &tasks, &stop, scheduler = &coroutine::Scheduler::current()] {
    scheduler_ = scheduler;
    shard_ = &shard;
    tasks_ = &tasks;
    stop_ = &stop;
    is_ready_ = true;
    changed_.notify_all();
  });
  static_cast<void>(stop.wait(Deadline::never()));
}

Result<void> ShardThread::wait_until_ready() {
  while (!is_ready_ && !has_ended_) changed_.wait(Deadline::never(), Cancellation::ignore);
  return failure_;
}

void ShardThread::start(const Work& work, Done done) {
  // The node fails to start and is shut down.
  if (!is_ready_) return done(failure_);
  scheduler_->post([this, &work, done = std::move(done)] {
    const auto finish = [this, done](Result<void> result) {
      home_.post([done, result = std::move(result)] { done(result); });
    };
    const auto run = [this, &work, finish] {
      try {
        finish(work(*shard_));
      } catch (...) {
        finish(Error(Code::internal, "an exception escaped from work for the node"));
        throw;  // The scheduler reports it.
      }
    };
    auto spawned = tasks_->spawn("work for the node", run, node_work);
    if (!spawned) finish(spawned.error());
  });
}

}  // namespace corolane::framework::detail
