// The store and the directory that a configuration asks for.
#pragma once

#include <memory>

#include "coroutine/base/result.h"
#include "framework/directory/directory.h"
#include "framework/node/node_config.h"
#include "framework/store/store.h"
#include "net/network.h"

namespace corolane::framework::detail {

// Whether all shards of a process use the same one.
bool is_one_for_all(StoreKind kind);

// `network` outlives it. Fails as the store does that cannot be opened, with the key of the
// configuration that says where it is.
Result<std::shared_ptr<Store>> open_store(const StoreConfig& config, const std::string& cluster,
                                          net::Network& network);

// Of a node that is alone, `first_revision` is above all that earlier processes have used.
Result<std::shared_ptr<Directory>> open_directory(const ClusterConfig& config,
                                                  net::Network& network,
                                                  Directory::Revision first_revision);

}  // namespace corolane::framework::detail
