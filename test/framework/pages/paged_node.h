// SPDX-License-Identifier: MIT
// A node with its admin pages, as run_main() makes it.
#pragma once

#include <utility>

#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/pages/admin_pages.h"

namespace corolane::test {

class PagedNode : public framework::Node {
 public:
  template <typename... Arguments>
  explicit PagedNode(Arguments&&... arguments) : Node(std::forward<Arguments>(arguments)...) {
    framework::add_node_pages(admin(), *this);
  }
  PagedNode(framework::NodeConfig config, net::Network& network, framework::Log log, Parts parts)
      : Node(std::move(config), network, std::move(log), std::move(parts)) {
    framework::add_node_pages(admin(), *this);
  }
};

}  // namespace corolane::test
