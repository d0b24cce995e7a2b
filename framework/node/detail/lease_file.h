// The lease of this node in a file, for the supervisor that has started its process: once it knows
// that the process is dead, it takes the lease back, and others need not wait until it ends.
#pragma once

#include <functional>
#include <string>

#include "coroutine/base/result.h"
#include "framework/directory/directory.h"
#include "framework/node/node_config.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

// What is to be told of each lease: writes it to the file that COROLANE_LEASE_FILE of the
// environment names, all of its number or nothing. Empty when there is none. `log` outlives it.
std::function<void(Directory::Lease)> lease_writer_of_process(Log& log);

// Ends a lease of a process that is dead. Of the directory in one process's memory there is none
// left. Runs a loop of its own, for some seconds at most. Fails as the directory does.
Result<void> revoke_lease(const ClusterConfig& config, Directory::Lease lease);

}  // namespace corolane::framework::detail
