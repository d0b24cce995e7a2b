// The real network and store of a node that is recorded: does what the node asks, and tells it what
// comes, on a loop of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "framework/recording/recording.pb.h"
#include "framework/store/store.h"
#include "net/network.h"

namespace corolane::framework::recording {

// Of one scheduler's thread, but post() and listen(). Lives inside of a task.
class Outside {
 public:
  // Tells the node; on our thread, from anywhere in it.
  using Tell = std::function<void(Arrival arrival)>;
  // Opens the store, when the node first wants something of it. May block.
  using OpenStore = std::function<Result<std::shared_ptr<Store>>()>;

  Outside(net::Network& network, OpenStore open_store, Tell tell);
  // Suspends until all has ended. What was written goes out before, if that takes but a moment.
  ~Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

  // By the node's thread, while this lives: has that done.
  void post(std::vector<Ask> asks);
  // The same; blocks until it is done.
  Listening listen(const Ask& ask);

 private:
  class Conversation;

  void handle(const Ask& ask);
  Listening begin_to_listen(const Listen& ask);
  void accept(std::uint64_t id, net::Listener& listener);
  Result<Arrival> connect(const Connect& ask, std::uint64_t id);
  Result<Arrival> resolve(const HostName& ask);
  Result<Arrival> store(const StoreCall& ask);
  // Runs `work` in a task, and tells what it has returned.
  void answer(std::uint64_t call, std::function<Result<Arrival>()> work);
  Connected begin(std::unique_ptr<net::Stream> stream, std::uint64_t id);
  void close(std::uint64_t stream);

  coroutine::Scheduler& scheduler_;
  net::Network& network_;
  const OpenStore open_store_;
  const Tell tell_;
  std::shared_ptr<Store> store_;
  std::uint64_t last_id_ = 1;  // Ours are odd.
  std::map<std::uint64_t, std::shared_ptr<Conversation>> conversations_;
  std::map<std::uint64_t, coroutine::TaskRef> calls_;
  std::map<std::uint64_t, std::shared_ptr<net::Listener>> listeners_;
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::recording
