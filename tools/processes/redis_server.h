// A Redis of a test's own: in a folder that is gone at its end, reached by a Unix socket.
//
//   if (const auto missing = RedisServer::missing(); !missing.empty()) GTEST_SKIP() << missing;
//   RedisServer server;
//   RedisStore store(network, {.endpoint = server.endpoint()});
//
// It acknowledges what its disk has, as a Redis for objects should.
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
  // Why there can be none on this machine; empty when there can.
  static std::string missing();

  // Started with these arguments besides ("--requirepass", "secret"). Blocks until it serves.
  explicit RedisServer(std::vector<std::string> arguments = {});
  // Kills it.
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  net::HostPort endpoint() const;

  // As by `kill -9`. Blocks until it is gone.
  void kill();
  // After kill(): with what it had written. Blocks until it serves.
  void start();

 private:
  const TemporaryFolder folder_;
  const std::vector<std::string> arguments_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace corolane::test
