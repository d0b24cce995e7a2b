// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/crowd.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "net/descriptor_limit.h"
#include "net/stream.h"

namespace corolane::bench {
namespace {

constexpr std::size_t clients_per_address = 20'000;
// Handshakes and calls at the same time: fewer than any server refuses.
constexpr std::size_t at_once = 256;
// A server that is silent for this time has forgotten its clients.
constexpr int silence_max_ms = 10'000;

// How long a crowd leaves a command unread.
constexpr int look_interval_ms = 10;
constexpr const char* done = "done";

std::uint8_t source_of(std::size_t client) {
  constexpr std::size_t first_source = 2;
  return static_cast<std::uint8_t>(first_source + client / clients_per_address);
}

// Whether a command waits to be read.
bool has_command() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, 0) > 0;
}

Result<void> check_all(const Crowd& crowd) {
  const std::size_t ended_count = crowd.ended_count();
  if (ended_count == 0) return {};
  return Error(Code::unavailable,
               "the server has ended " + std::to_string(ended_count) + " of their connections");
}

// The life of a crowd in its own process. It ends by an error alone.
Error stay(std::uint16_t port, const MakeTalk& make_talk, std::size_t count) {
  const auto talk = make_talk(port);
  if (!talk) return talk.error();
  const auto crowd = Crowd::connect(port, **talk, count);
  if (!crowd) return crowd.error();
  bool reads = true;
  for (std::string command;;) {
    std::puts(done);
    std::fflush(stdout);
    while (reads && !has_command()) {
      if (auto polled = (*crowd)->poll(look_interval_ms); !polled) return polled.error();
    }
    if (!std::getline(std::cin, command)) return Error(Code::cancelled, "no more commands");
    const bool joins = command == DistantCrowd::join_command;
    if (auto obeyed = joins ? (*crowd)->join() : check_all(**crowd); !obeyed) {
      return obeyed.error();
    }
    if (joins) reads = false;
  }
}

}  // namespace

Result<std::unique_ptr<Crowd>> Crowd::connect(std::uint16_t port, Talk& talk, std::size_t count) {
  net::raise_descriptor_limit();
  auto epoll = Epoll::make();
  if (!epoll) return epoll.error();
  std::unique_ptr<Crowd> crowd(new Crowd(std::move(*epoll), port, talk));
  while (crowd->size() < count) {
    if (auto added = crowd->add(); !added) return added.error();
    const std::size_t opening_max = crowd->size() == count ? 0 : at_once;
    if (crowd->size() <= opening_max) continue;
    auto opened = crowd->await(&Heard::open_count, crowd->size() - opening_max);
    if (!opened) return opened.error();
  }
  return crowd;
}

Result<void> Crowd::add() {
  const std::size_t index = clients_.size();
  const auto target = talk_.target(index);
  if (!target) return target.error();
  auto socket = connect_to_loopback(port_, source_of(index));
  if (!socket) return socket.error();
  const linger at_once_by_reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket->number(), SOL_SOCKET, SO_LINGER, &at_once_by_reset, sizeof at_once_by_reset);
  clients_.push_back({.flow = Flow(std::move(*socket), epoll_)});
  if (auto started = clients_.back().flow.start(index); !started) return started;
  const std::string request = websocket_request(*target);
  return clients_.back().flow.write(net::bytes_of(request));
}

Result<void> Crowd::join() {
  const std::size_t answered_before = heard_.answer_count;
  for (std::size_t client = 0; client < size(); ++client) {
    message_.clear();
    talk_.append_joining(client, message_);
    if (message_.empty()) return {};
    if (auto said = say(client, message_); !said) return said;
    if (client < at_once) continue;
    auto answered = await(&Heard::answer_count, answered_before + client - at_once);
    if (!answered) return answered;
  }
  return await(&Heard::answer_count, answered_before + size());
}

Result<void> Crowd::request(std::size_t client) {
  message_.clear();
  talk_.append_request(client, message_);
  return say(client, message_);
}

Result<void> Crowd::acknowledge(std::size_t client) {
  message_.clear();
  talk_.append_acknowledgement(client, message_);
  return message_.empty() ? Result<void>() : say(client, message_);
}

Result<void> Crowd::say(std::size_t client, std::span<const std::byte> message) {
  output_.clear();
  append_websocket_frame(websocket_binary_opcode, message, output_);
  return clients_[client].flow.write(output_);
}

Result<void> Crowd::await(std::size_t Heard::* what, std::size_t count) {
  while (heard_.*what < count) {
    const auto handled = poll(silence_max_ms);
    if (!handled) return handled.error();
    if (*handled > 0) continue;
    return Error(Code::deadline_exceeded, "the server has said " + std::to_string(heard_.*what) +
                                              " times what " + std::to_string(count) +
                                              " clients wait for");
  }
  return {};
}

Result<std::size_t> Crowd::poll(int milliseconds) {
  const auto events = epoll_.wait(milliseconds);
  for (const epoll_event& event : events) {
    if (auto done = handle(event.data.u64, event.events); !done) return done.error();
  }
  return events.size();
}

Result<void> Crowd::handle(std::size_t index, std::uint32_t events) {
  Flow& flow = clients_[index].flow;
  if ((events & EPOLLOUT) != 0) {
    if (auto written = flow.write_unsent(); !written) return written;
  }
  if ((events & ~EPOLLOUT) == 0) return {};
  const auto read = flow.read();
  if (!read) return read.error();
  std::span<const std::byte> input = *read;
  if (!clients_[index].is_upgraded) {
    const auto taken = take_upgrade(index, input);
    if (!taken) return taken.error();
    input = input.subspan(*taken);
  }
  while (clients_[index].is_upgraded) {
    const WebSocketFrame frame = first_websocket_frame(input);
    if (frame.size == 0) break;
    input = input.subspan(frame.size);
    if (auto heard = hear(index, frame); !heard) return heard;
  }
  flow.keep(input);
  return {};
}

Result<std::size_t> Crowd::take_upgrade(std::size_t index, std::span<const std::byte> input) {
  const auto size = websocket_answer_size(input);
  if (!size || *size == 0) return size;
  clients_[index].is_upgraded = true;
  if (talk_.is_open_at_once()) ++heard_.open_count;
  message_.clear();
  talk_.append_greeting(index, message_);
  if (message_.empty()) return size;
  if (auto said = say(index, message_); !said) return said.error();
  return size;
}

Result<void> Crowd::hear(std::size_t index, const WebSocketFrame& frame) {
  if (frame.opcode == websocket_close_opcode) {
    return Error(Code::unavailable, "the server has closed a WebSocket");
  }
  if (frame.opcode == websocket_ping_opcode) {
    output_.clear();
    append_websocket_frame(websocket_pong_opcode, frame.payload, output_);
    return clients_[index].flow.write(output_);
  }
  message_.clear();
  if (auto heard = talk_.hear(index, frame.payload, heard_, message_); !heard) return heard;
  return message_.empty() ? Result<void>() : say(index, message_);
}

std::size_t Crowd::ended_count() const {
  std::size_t count = 0;
  for (const Client& client : clients_) {
    pollfd state{.fd = client.flow.number(), .events = POLLRDHUP, .revents = 0};
    if (::poll(&state, 1, 0) > 0) ++count;
  }
  return count;
}

Result<DistantCrowd> DistantCrowd::start(std::uint16_t port, const MakeTalk& make_talk,
                                         std::size_t count) {
  auto process = Process::start([&] {
    pin_to(Core::generator);
    std::puts(stay(port, make_talk, count).message().c_str());
    return EXIT_FAILURE;
  });
  if (!process) return process.error();
  DistantCrowd crowd(std::move(*process));
  if (auto heard = crowd.hear(); !heard) return heard.error();
  return crowd;
}

Result<void> DistantCrowd::ask(std::string_view command) {
  const auto asked = process_.write_line(command);
  // A crowd that has ended no longer reads, and its last line says why.
  auto heard = hear();
  return heard ? asked : heard;
}

Result<void> DistantCrowd::hear() {
  const auto line = process_.read_line();
  if (line && *line == done) return {};
  return Error(Code::unavailable, "the clients: " + (line ? *line : line.error().message()));
}

}  // namespace corolane::bench
