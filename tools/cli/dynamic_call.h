// A call of a method that this program was not built with.
#pragma once

#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "net/endpoint.h"
#include "net/network.h"
#include "tools/cli/command.h"

namespace corolane::tools::cli {

struct DynamicCall {
  net::HostPort peer;
  std::string method;               // All of "package.Service/Method", or an end of it.
  std::string request = "{}";       // JSON.
  std::optional<Duration> timeout;  // Otherwise that of the method.
};

// Connects, asks the Reflection of the peer for its methods and their types, calls, and gives the
// reply as JSON. Suspends.
//
// A failure of the method is its Error as text, "code: message". It is misuse when no method or
// more than one fits, or when the request does not fit the method.
Outcome run_dynamic_call(net::Network& network, const DynamicCall& call);

}  // namespace corolane::tools::cli
