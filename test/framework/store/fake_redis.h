// SPDX-License-Identifier: MIT
// The server of a RedisStore in tests of its protocol: it parses commands, keeps nothing, and
// replies as the test says.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "net/network.h"

namespace corolane::test {

class FakeRedis {
 public:
  using Command = std::vector<std::string>;
  // The bytes of a reply, or nothing while there is none.
  using Answer = std::function<std::optional<std::string>(const Command&)>;

  // Whether it reads the mark, as a store does on each new connection.
  static bool asks_for_mark(const Command& command);
  // Greets a client as a Redis without a password that is the only one of a store does, and answers
  // nothing else.
  static std::optional<std::string> greet(const Command& command);

  FakeRedis(net::Network& network, const net::Endpoint& endpoint, Answer answer = &greet);
  // Closes all connections; suspends.
  ~FakeRedis();
  FakeRedis(const FakeRedis&) = delete;
  FakeRedis& operator=(const FakeRedis&) = delete;

  // Suspends until `count` commands other than greetings have arrived.
  void wait_for(std::size_t count);
  // Sends bytes on the newest connection.
  void say(std::string_view bytes);
  // Ends the newest connection.
  void hang_up();

  Answer answer;
  std::vector<Command> greetings;
  std::vector<Command> commands;
  std::size_t connection_count = 0;

 private:
  void accept_all();
  void serve(net::Stream& stream);

  std::unique_ptr<net::Listener> listener_;
  net::Stream* newest_ = nullptr;
  coroutine::Event came_{"a command"};
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::test
