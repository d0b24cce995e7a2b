// Runs linear code that talks to a node.
#pragma once

#include <functional>
#include <string_view>

#include "net/network.h"
#include "tools/corolane/command.h"

namespace corolane::tools::cli {

// Runs `body` as a task with the real network, until it has ended.
Outcome run_on_network(std::move_only_function<Outcome(net::Network& network)> body);
// The same inside of TLS, when the arguments ask for it.
Outcome run_on_network(const Arguments& arguments,
                       std::move_only_function<Outcome(net::Network& network)> body);

// Says why nothing came of connecting to a node, and what to do. `key` is what the address should
// have been in the node's configuration, "node.listen".
Failure no_connection(const Error& error, std::string_view key);

}  // namespace corolane::tools::cli
