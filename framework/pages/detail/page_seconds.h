// SPDX-License-Identifier: MIT
// The time that a page observes: ?seconds=5.
#pragma once

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "net/http/http.h"

namespace corolane::framework::detail {

// Returns `standard` when the query has no seconds. Fails with invalid_argument, which says what is
// allowed.
Result<Duration> page_seconds(const net::HttpRequest& request, Duration standard, Duration max);

}  // namespace corolane::framework::detail
