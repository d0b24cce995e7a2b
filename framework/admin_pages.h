// The admin pages that every node has: /health, /metrics, /stats, /sites, /tasks and those below
// it.
#pragma once

#include "framework/admin.h"

namespace corolane::framework {

class Node;

// `node` outlives the server.
void add_node_pages(AdminServer& admin, Node& node);

}  // namespace corolane::framework
