// SPDX-License-Identifier: MIT
// Commands are arrays of bulk strings: https://redis.io/docs/reference/protocol-spec/.
#include "test/framework/store/fake_redis.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::test {
namespace {

bool is_greeting(const FakeRedis::Command& command) {
  return command[0] == "AUTH" || command[0] == "SELECT" || command[0] == "PING" ||
         FakeRedis::asks_for_mark(command);
}

// Takes "$3\r\n" or "*3\r\n" off the text; nothing when it is not complete.
std::optional<std::size_t> take_count(std::string_view& text) {
  const auto end = text.find("\r\n");
  if (end == text.npos) return {};
  const auto count = std::strtoul(text.data() + 1, nullptr, 10);
  text.remove_prefix(end + 2);
  return count;
}

// Takes a command off the text, if it is complete.
std::optional<FakeRedis::Command> take_command(std::string& received) {
  std::string_view text = received;
  const auto count = take_count(text);
  if (!count) return {};
  FakeRedis::Command command;
  while (command.size() < *count) {
    const auto size = take_count(text);
    if (!size || text.size() < *size + 2) return {};
    command.emplace_back(text.substr(0, *size));
    text.remove_prefix(*size + 2);
  }
  received.erase(0, received.size() - text.size());
  return command;
}

}  // namespace

bool FakeRedis::asks_for_mark(const Command& command) {
  return command[0] == "EVAL" && command[1].contains("'known'") && command[2] == "3";
}

std::optional<std::string> FakeRedis::greet(const Command& command) {
  if (command[0] == "PING") return "+PONG\r\n";
  if (asks_for_mark(command)) return "*5\r\n+store\r\n+1\r\n+1\r\n+id\r\n+1\r\n";
  if (is_greeting(command)) return "+OK\r\n";
  return {};
}

FakeRedis::FakeRedis(net::Network& network, const net::Endpoint& endpoint, Answer its_answer)
    : answer(std::move(its_answer)) {
  auto listener = network.listen(endpoint);
  check(listener.has_value(), "a test may listen");
  listener_ = std::move(*listener);
  check(tasks_.spawn("accept", [this] { accept_all(); }).has_value(), "a task can be spawned");
}

FakeRedis::~FakeRedis() { tasks_.cancel_and_join(); }

void FakeRedis::wait_for(std::size_t count) {
  while (commands.size() < count) check(came_.wait(Deadline::never()).has_value(), "they arrive");
}

void FakeRedis::say(std::string_view bytes) {
  check(newest_ != nullptr && newest_->try_write(net::bytes_of(bytes)).has_value(),
        "somebody listens");
}

void FakeRedis::hang_up() { newest_->close(); }

void FakeRedis::accept_all() {
  while (auto stream = listener_->accept(Deadline::never())) {
    ++connection_count;
    auto served = tasks_.spawn("serve", [this, stream = std::move(*stream)] { serve(*stream); });
    check(served.has_value(), "a task can be spawned");
  }
}

void FakeRedis::serve(net::Stream& stream) {
  newest_ = &stream;
  std::string received;
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const auto count = stream.read_some(buffer, Deadline::never());
    if (!count || *count == 0) break;
    received.append(reinterpret_cast<const char*>(buffer.data()), *count);
    while (auto command = take_command(received)) {
      const auto reply = answer(*command);
      (is_greeting(*command) ? greetings : commands).push_back(*std::move(command));
      came_.pulse();
      if (reply) static_cast<void>(stream.try_write(net::bytes_of(*reply)));
    }
  }
  if (newest_ == &stream) newest_ = nullptr;
}

}  // namespace corolane::test
