// SPDX-License-Identifier: MIT
// The token with which a bot logs in, as a login service signs it (rpc/auth/jwt.h).
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace corolane::tools::bots {

// A JSON Web Token for that subject, signed with HS256 by the secret; `expires` counts since the
// Unix epoch.
std::string make_token(std::string_view secret, std::string_view subject,
                       std::chrono::seconds expires);

}  // namespace corolane::tools::bots
