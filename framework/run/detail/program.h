// SPDX-License-Identifier: MIT
// A program that is a node, without its types.
#pragma once

#include <string>

#include "config/keys.h"
#include "config/loader.h"
#include "coroutine/base/result.h"
#include "framework/node/node_config.h"
#include "framework/node/reload.h"

namespace corolane::framework {
class Node;
}

namespace corolane::framework::detail {

// The program as run() sees it, without its types.
class Program : public ConfigSource {
 public:
  // The name of the program, and of its section in the configuration.
  virtual const char* name() const = 0;
  // Reads `path`, or only the overrides when it is empty.
  virtual Result<void> load(const std::string& path, const config::Overrides& overrides) = 0;
  // Reads only that text, which comes from a recording.
  virtual Result<void> load_recorded(const std::string& text) = 0;
  // The loaded configuration of the node.
  virtual const NodeConfig& node_config() const = 0;
  virtual std::string print_config(config::Secrets secrets) const = 0;
  virtual std::string config_reference() const = 0;
  // Makes the services.
  virtual Result<void> set_up(Node& node) = 0;
};

}  // namespace corolane::framework::detail
