// SPDX-License-Identifier: MIT
#include "framework/node/detail/shard_thread.h"

#include <utility>

#include "coroutine/wait_queue.h"

namespace corolane::framework::detail {
namespace {

// These tasks construct services and gather pages, which have deep frames. When the load has taken
// every stack, or calls fill the queue of a shard that hangs, pages and shutdown must still work.
constexpr coroutine::TaskOptions node_work = {.stack_size_bytes = 256 * 1024,
                                              .purpose = coroutine::StackPool::Purpose::control};

}  // namespace

using coroutine::Cancellation;

ShardThread::ShardThread(ShardLoops& loops, std::size_t index,
                         const Shard::Surroundings& surroundings,
                         const coroutine::Scheduler::Options& options)
    : index_(index),
      surroundings_(surroundings),
      home_(coroutine::Scheduler::current()),
      loop_(loops.begin(
          index, options, [this](net::Network& network) { live(network); },
          [this](const Result<void>& ran) { end(ran); })) {}

ShardThread::~ShardThread() {
  static_cast<void>(wait_until_ready());
  if (is_ready_) scheduler_->post([this] { stop_->set(); });
  while (!has_ended_) changed_.wait(Deadline::never(), Cancellation::ignore);
}

void ShardThread::end(const Result<void>& ran) {
  home_.post([this, ran] {
    has_ended_ = true;
    if (!ran) failure_ = ran;
    changed_.notify_all();
  });
}

void ShardThread::live(net::Network& network) {
  Shard shard(index_, surroundings_, network);
  coroutine::Event stop("the end of the node");
  home_.post([this, &shard, &stop, scheduler = &coroutine::Scheduler::current()] {
    scheduler_ = scheduler;
    shard_ = &shard;
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

coroutine::SentCall<void> ShardThread::start(const Work& work) {
  // The node fails to start and is shut down.
  if (!is_ready_) return coroutine::SentCall<void>(failure_.error());
  return coroutine::send_call(
      *scheduler_, "work for the node", [this, &work] { return work(*shard_); },
      {.task = node_work, .cancellation = Cancellation::ignore, .may_exceed_queue = true});
}

Result<void> ShardThread::ask(Work work, Deadline deadline) {
  if (!is_ready_) return failure_;
  return coroutine::call_on_or_leave(
      *scheduler_, "work for the node",
      [work = std::move(work), shard = shard_] { return work(*shard); }, deadline,
      {.task = node_work, .may_exceed_queue = true});
}

}  // namespace corolane::framework::detail
