// The page that says what a server serves.
#pragma once

#include <string>

#include "rpc/server/server.h"

namespace corolane::rpc::detail {

enum class ListingFormat { text, html, json };

// All services and their methods that peers behind `door` may call, with what their protos say of
// them.
std::string list_services(const Server& server, ListingFormat format, Door door);

}  // namespace corolane::rpc::detail
