// corolane stats: what a running node has done so far.
#pragma once

#include "net/endpoint.h"
#include "net/network.h"
#include "tools/cli/command.h"

namespace corolane::tools::cli {

extern const Command stats_command;

// The body of /stats of the admin pages at `peer`. Suspends.
Outcome fetch_stats(net::Network& network, const net::HostPort& peer);

}  // namespace corolane::tools::cli
