// SPDX-License-Identifier: MIT
// The pages for the node's configuration and its reload.
#pragma once

#include <memory>

#include "framework/admin/admin.h"
#include "framework/node/reload.h"

namespace corolane::framework {

// Adds /config, and the action /config/reload.
void add_config_pages(AdminServer& admin, const std::shared_ptr<Reload>& reload);

}  // namespace corolane::framework
