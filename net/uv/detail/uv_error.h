// SPDX-License-Identifier: MIT
// Failures of libuv and the kernel as Errors.
#pragma once

#include <string_view>

#include "coroutine/base/error.h"

namespace corolane::net::detail {

// `status` is a result of libuv: a negated errno, or its own code for name resolution. `action`
// names the failed operation and its peer; "connect to 127.0.0.1:8460" gives "connect to
// 127.0.0.1:8460: connection refused".
Error uv_error(int status, std::string_view action);

}  // namespace corolane::net::detail
