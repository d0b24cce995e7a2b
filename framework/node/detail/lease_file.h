// SPDX-License-Identifier: MIT
// Writes the lease of this node to a file for the supervisor that started the process. When the
// process dies the supervisor revokes the lease, so other nodes need not wait for it to expire.
#pragma once

#include <functional>
#include <string>

#include "coroutine/base/result.h"
#include "framework/directory/directory.h"
#include "framework/node/node_config.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

// Returns the callback for each new lease: it writes the number atomically to the file that the
// environment variable COROLANE_LEASE_FILE names. Empty when the variable is not set. `log`
// outlives it.
std::function<void(Directory::Lease)> lease_writer_of_process(Log& log);

// Revokes the lease of a dead process. A local directory died with its process, so there is nothing
// to revoke. Runs its own loop, for some seconds at most. Fails as the directory does.
Result<void> revoke_lease(const ClusterConfig& config, Directory::Lease lease);

}  // namespace corolane::framework::detail
