// The page that says what a server serves.
#pragma once

#include <string>

#include "rpc/server.h"

namespace corolane::rpc::detail {

enum class ListingFormat { text, html, json };

// All services and their methods, with what their protos say of them; of `public_only`, those that
// players may call.
std::string list_services(const Server& server, ListingFormat format, bool public_only);

}  // namespace corolane::rpc::detail
