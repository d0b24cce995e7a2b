// SPDX-License-Identifier: MIT
// The real network and store of a recorded node, on a loop of its own: executes the node's requests
// and reports input to it.
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

// Belongs to one scheduler's thread, except post() and listen(). Lives inside a task.
class Outside {
 public:
  // Reports an arrival to the node. Called on our thread, in tasks or on the loop's stack.
  using Tell = std::function<void(Arrival arrival)>;
  // Opens the store at the node's first call of it. May block.
  using OpenStore = std::function<Result<std::shared_ptr<Store>>()>;

  Outside(net::Network& network, OpenStore open_store, Tell tell);
  // Suspends until all tasks have ended. Remaining output is sent if that takes only a moment.
  ~Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

  // Called by the node's thread while this lives: executes `asks` on the outside.
  void post(std::vector<Ask> asks);
  // The same for one request; blocks until it is answered.
  Listening listen(const Ask& ask);

 private:
  class Conversation;

  void handle(const Ask& ask);
  Listening begin_to_listen(const Listen& ask);
  void accept(std::uint64_t id, net::Listener& listener);
  Result<Arrival> connect(const Connect& ask, std::uint64_t id);
  Result<Arrival> resolve(const HostName& ask);
  Result<Arrival> store(const StoreCall& ask);
  // Runs `work` in a task and reports its result.
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
