// SPDX-License-Identifier: MIT
// Opens the store and the directory that a configuration selects.
#pragma once

#include <memory>

#include "coroutine/base/result.h"
#include "framework/directory/directory.h"
#include "framework/node/node_config.h"
#include "framework/store/store.h"
#include "net/network.h"

namespace corolane::framework::detail {

// Whether all shards of a process share one store.
bool is_one_for_all(StoreKind kind);

// `network` outlives it. When the store cannot be opened, its error is returned with the
// configuration key of its location.
Result<std::shared_ptr<Store>> open_store(const StoreConfig& config, const std::string& cluster,
                                          net::Network& network);

// For a node without a cluster, `first_revision` is above all revisions that earlier processes
// used.
Result<std::shared_ptr<Directory>> open_directory(const ClusterConfig& config,
                                                  net::Network& network,
                                                  Directory::Revision first_revision);

}  // namespace corolane::framework::detail
