// What a RedisStore talks to, in a test of how it talks: a server that understands commands, keeps
// nothing, and answers as it is told.
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
  // The bytes of a reply, or nothing for none yet.
  using Answer = std::function<std::optional<std::string>(const Command&)>;

  // What a Redis without a password says to who connects, and no answer to anything else.
  static std::optional<std::string> greet(const Command& command);

  FakeRedis(net::Network& network, const net::Endpoint& endpoint, Answer answer = &greet);
  // Closes all connections; suspends.
  ~FakeRedis();
  FakeRedis(const FakeRedis&) = delete;
  FakeRedis& operator=(const FakeRedis&) = delete;

  // Suspends until so many commands that were no greetings have come.
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
