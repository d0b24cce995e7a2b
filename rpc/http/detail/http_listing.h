// SPDX-License-Identifier: MIT
// The page that lists what a server serves.
#pragma once

#include <string>

#include "rpc/server/server.h"

namespace corolane::rpc::detail {

enum class ListingFormat { text, html, json };

// All services with the methods that peers behind `door` may call, and their .proto comments.
std::string list_services(const Server& server, ListingFormat format, Door door);

}  // namespace corolane::rpc::detail
