// SPDX-License-Identifier: MIT
#include "framework/node/detail/shard_set.h"

#include <algorithm>
#include <utility>

#include "coroutine/wait_queue.h"
#include "framework/edge/detail/session_exchange.h"
#include "framework/routing/detail/object_router.h"

namespace corolane::framework::detail {
namespace {

// Counts the threads at work. They refer to the stack of this object, so its destructor waits for
// them, also after an exception.
struct Others {
  std::size_t running_count;
  coroutine::WaitQueue ended{"work of other shards"};

  ~Others() {
    while (running_count > 0) ended.wait(Deadline::never(), coroutine::Cancellation::ignore);
  }
};

// The calls to other shards. After an exception here they are not cut short, but awaited.
struct Calls {
  std::vector<coroutine::SentCall<void>> all;

  ~Calls() {
    for (auto& call : all) static_cast<void>(call.join(Deadline::never()));
  }
};

}  // namespace

Result<void> ShardSet::grow(std::size_t count, ShardLoops& loops,
                            const Shard::Surroundings& surroundings,
                            const coroutine::Scheduler::Options& options) {
  while (this->count() < count) {
    threads_.push_back(std::make_unique<ShardThread>(loops, this->count(), surroundings, options));
    // One by one: the first failure ends the attempt.
    if (auto ready = threads_.back()->wait_until_ready(); !ready) return ready;
  }
  return {};
}

void ShardSet::introduce() {
  std::vector<ObjectRouter::Peer> routers;
  std::vector<SessionExchange::Peer> exchanges;
  const auto add = [&](Shard& shard) {
    routers.push_back({.scheduler = &shard.scheduler(), .router = &shard.object_router()});
    exchanges.push_back({.scheduler = &shard.scheduler(), .exchange = &shard.sessions()});
  };
  if (home_ != nullptr) add(*home_);
  for (const auto& thread : threads_) add(thread->shard());
  post([routers, exchanges](Shard& shard) {
    shard.object_router().set_peers(routers);
    shard.sessions().set_peers(exchanges);
  });
}

Result<void> ShardSet::on_each(const Work& work) {
  Calls calls;
  calls.all.reserve(threads_.size());
  for (const auto& thread : threads_) calls.all.push_back(thread->start(work));
  std::vector<Result<void>> results;
  if (home_ != nullptr) results.push_back(work(*home_));
  for (auto& call : calls.all) results.push_back(call.join(Deadline::never()));
  const auto failed = std::ranges::find_if(results, [](const auto& result) { return !result; });
  return failed == results.end() ? Result<void>() : *failed;
}

Result<void> ShardSet::ask(std::size_t shard, Work work, Deadline deadline) {
  return is_at_home(shard) ? work(*home_) : thread_of(shard).ask(std::move(work), deadline);
}

coroutine::Scheduler& ShardSet::scheduler_of(std::size_t shard) const {
  return is_at_home(shard) ? home_->scheduler() : thread_of(shard).scheduler();
}

// Posts, instead of calls: no shard needs a stack.
void ShardSet::between_turns(const std::function<void(Shard& shard)>& work) {
  Others others{.running_count = threads_.size()};
  const auto one_has_ended = [&others] {
    if (--others.running_count == 0) others.ended.notify_all();
  };
  for (const auto& thread : threads_) {
    Shard& shard = thread->shard();
    shard.scheduler().post([this, &work, &shard, &one_has_ended] {
      work(shard);
      home_scheduler_.post([&one_has_ended] { one_has_ended(); });
    });
  }
  if (home_ != nullptr) work(*home_);
}

void ShardSet::post(const std::function<void(Shard& shard)>& work) {
  if (home_ != nullptr) work(*home_);
  for (const auto& thread : threads_) {
    Shard& shard = thread->shard();
    shard.scheduler().post([work, &shard] { work(shard); });
  }
}

void ShardSet::post_to(std::size_t shard, std::move_only_function<void()> work) {
  scheduler_of(shard).post(std::move(work));
}

}  // namespace corolane::framework::detail
