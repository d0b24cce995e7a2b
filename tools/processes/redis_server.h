// SPDX-License-Identifier: MIT
// A Redis for one test: its folder is deleted at the end, and clients reach it by a Unix socket.
//
//   COROLANE_NEEDS(RedisServer::missing());
//   RedisServer server;
//   RedisStore store(network, {.endpoints = {server.endpoint()}});
//
// It acknowledges a write once it is on disk, as a Redis for objects should.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coroutine/testing/temporary_folder.h"
#include "net/endpoint.h"

namespace corolane::test {

class ChildProcess;

class RedisServer {
 public:
  // Why this machine cannot run one; empty when it can.
  static std::string missing();

  // Starts it with these additional arguments ("--requirepass", "secret"). Blocks until it serves.
  explicit RedisServer(std::vector<std::string> arguments = {});
  // Kills the server.
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  net::HostPort endpoint() const;

  // Acts like `kill -9`. Blocks until the process is gone.
  void kill();
  // Restarts it after kill(), with the data on its disk. Blocks until it serves.
  void start();

 private:
  const TemporaryFolder folder_;
  const std::vector<std::string> arguments_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace corolane::test
