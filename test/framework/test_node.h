// SPDX-License-Identifier: MIT
// A node for tests: its configuration, and a client of it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "framework/node/node.h"
#include "rpc/client/client.h"

namespace corolane::test {

// Listens on free ports; logs errors alone.
inline framework::NodeConfig node_config(std::string name) {
  framework::NodeConfig config;
  config.name = std::move(name);
  config.clients.listen = "127.0.0.1:0";
  config.clients.login.anonymous = true;
  config.admin.listen = "127.0.0.1:0";
  config.log_level = framework::LogLevel::error;
  config.shards = 1;
  config.store.kind = framework::StoreKind::memory;
  return config;
}

// Null, and the test fails, when the node cannot be reached.
inline std::unique_ptr<rpc::Client> connect(net::Network& network, const framework::Node& node) {
  const net::Endpoint& endpoint = node.endpoints().clients;
  auto client = rpc::Client::connect(network, {endpoint.address, endpoint.port},
                                     Deadline::after(std::chrono::seconds(1)));
  EXPECT_TRUE(client) << client;
  return client ? *std::move(client) : nullptr;
}

}  // namespace corolane::test
