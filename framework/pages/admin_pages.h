// SPDX-License-Identifier: MIT
// The admin pages that every node has: /, /health, /ready, /metrics, /stats, /objects,
// /connections, /slow, /log, /sites, /stalls, /tasks and those below them. They show all of its
// shards.
#pragma once

#include "framework/admin/admin.h"

namespace corolane::framework {

class Node;

// `node` outlives the server.
void add_node_pages(AdminServer& admin, Node& node);

}  // namespace corolane::framework
