// SPDX-License-Identifier: MIT
// Runs sequential code that talks to a node.
#pragma once

#include <functional>
#include <string_view>

#include "net/network.h"
#include "tools/corolane/command.h"

namespace corolane::tools::cli {

// Runs `body` as a task on the real network until it ends.
Outcome run_on_network(std::move_only_function<Outcome(net::Network& network)> body);
// The same, but with TLS if the arguments ask for it.
Outcome run_on_network(const Arguments& arguments,
                       std::move_only_function<Outcome(net::Network& network)> body);

// Says why a node could not be reached, and what to do. `key` is the configuration key of the
// address that was needed, "node.clients.listen".
Failure no_connection(const Error& error, std::string_view key);

}  // namespace corolane::tools::cli
