// SPDX-License-Identifier: MIT
// Runs the system's redis-server.
#include "tools/processes/redis_server.h"

#include <csignal>
#include <filesystem>
#include <string_view>
#include <utility>

#include "coroutine/base/check.h"
#include "tools/processes/child_process.h"

namespace corolane::test {
namespace {

constexpr const char* program = "/usr/bin/redis-server";

// Redis 7.0 logs the path of its socket after the first of these, later releases the second.
bool says_ready(std::string_view line) {
  return line.contains("ready to accept connections at") ||
         line.contains("Ready to accept connections unix");
}

}  // namespace

std::string RedisServer::missing() {
  if (std::filesystem::exists(program)) return {};
  return std::string("there is no ") + program + "; tools/setup --tests installs it";
}

RedisServer::RedisServer(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
  start();
}

RedisServer::~RedisServer() = default;

net::HostPort RedisServer::endpoint() const {
  return {.host = "unix:" + (folder_.path() / "redis.sock").string()};
}

void RedisServer::kill() {
  process_->send_signal(SIGKILL);
  process_->wait();
  process_.reset();
}

void RedisServer::start() {
  check(process_ == nullptr, "a server is started when it is down");
  std::vector<std::string> arguments = {"--port",        "0",
                                        "--unixsocket",  folder_.path() / "redis.sock",
                                        "--dir",         folder_.path(),
                                        "--save",        "",
                                        "--appendonly",  "yes",
                                        "--appendfsync", "always"};
  arguments.insert(arguments.end(), arguments_.begin(), arguments_.end());
  process_ = std::make_unique<ChildProcess>(program, std::move(arguments));
  std::string line;
  do {
    line = process_->read_line();
    check(!line.empty(), "a server says when it is ready to serve");
  } while (!says_ready(line));
}

}  // namespace corolane::test
