// SPDX-License-Identifier: MIT
// Many WebSockets in one thread, by raw epoll: the clients of an edge node, at the least cost.
//
//   auto crowd = Crowd::connect(server.port(), *talk, 10'000);
//   if (!crowd) return crowd.error();
//   if (auto joined = (*crowd)->join(); !joined) return joined;
//   if (auto said = (*crowd)->request(0); !said) return said;
//   if (auto heard = (*crowd)->await(&Heard::news_count, 10'000); !heard) return heard;
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "coroutine/base/result.h"
#include "tools/benchmarks/network/flow.h"
#include "tools/benchmarks/network/talk.h"
#include "tools/benchmarks/network/websocket_client.h"
#include "tools/benchmarks/process.h"

namespace corolane::bench {

class Crowd {
 public:
  // Connects, some hundred at a time, and blocks until all are open. Each 20,000 have an address of
  // their own, since a pair of addresses has 28,000 ports. `talk` outlives it.
  static Result<std::unique_ptr<Crowd>> connect(std::uint16_t port, Talk& talk, std::size_t count);
  // Resets all connections, so that their ports are free at once.
  ~Crowd() = default;

  std::size_t size() const { return clients_.size(); }
  const Heard& heard() const { return heard_; }

  // Lets each client join, some hundred at a time, and blocks until all are answered.
  Result<void> join();
  // A client asks for news, and acknowledges them.
  Result<void> request(std::size_t client);
  Result<void> acknowledge(std::size_t client);
  Result<void> say(std::size_t client, std::span<const std::byte> message);

  // Blocks until so much was heard. Fails when nothing comes for ten seconds.
  Result<void> await(std::size_t Heard::* what, std::size_t count);
  // Handles what has come, or comes within that time; -1: any time. Returns the number of events.
  Result<std::size_t> poll(int milliseconds);
  // How many connections the server has ended, also when nothing was read of them.
  std::size_t ended_count() const;

 private:
  struct Client {
    Flow flow;
    bool is_upgraded = false;
  };

  Crowd(Epoll epoll, std::uint16_t port, Talk& talk)
      : epoll_(std::move(epoll)), port_(port), talk_(talk) {}

  Result<void> add();
  Result<void> handle(std::size_t index, std::uint32_t events);
  Result<std::size_t> take_upgrade(std::size_t index, std::span<const std::byte> input);
  Result<void> hear(std::size_t index, const WebSocketFrame& frame);

  Epoll epoll_;
  const std::uint16_t port_;
  Talk& talk_;
  std::deque<Client> clients_;
  Heard heard_;
  Bytes message_;
  Bytes output_;
};

// A crowd in a process of its own, which answers pings and reads what comes.
class DistantCrowd {
 public:
  // Blocks until all are open.
  static Result<DistantCrowd> start(std::uint16_t port, const MakeTalk& make_talk,
                                    std::size_t count);

  // Lets all join, and blocks until they have. They read nothing from then on.
  Result<void> join_and_stop_reading() { return ask(join_command); }
  // Fails when the server has ended a connection.
  Result<void> check() { return ask(check_command); }

  static constexpr std::string_view join_command = "join";
  static constexpr std::string_view check_command = "check";

 private:
  explicit DistantCrowd(Process process) : process_(std::move(process)) {}
  Result<void> ask(std::string_view command);
  Result<void> hear();

  Process process_;
};

}  // namespace corolane::bench
