// How long a page is to look: ?seconds=5.
#pragma once

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "net/http/http.h"

namespace corolane::framework::detail {

// `standard` when the query does not say. Fails with invalid_argument that says what it may be.
Result<Duration> page_seconds(const net::HttpRequest& request, Duration standard, Duration max);

}  // namespace corolane::framework::detail
