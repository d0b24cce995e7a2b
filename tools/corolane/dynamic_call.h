// Calls of methods that this program was not built with, and what there is to call.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "net/endpoint.h"
#include "net/network.h"
#include "tools/corolane/command.h"

namespace corolane::tools::cli {

struct DynamicCall {
  net::HostPort peer;
  std::string method;                 // What find_method() takes for one.
  std::string request = "{}";         // JSON.
  std::optional<std::string> object;  // Its id, of a method of objects.
  std::optional<Duration> timeout;    // Otherwise that of the method.
  // Given each message of a stream as it comes, as JSON on one line.
  std::function<void(const std::string& line)> print;
};

// Connects, asks the Reflection of the peer for its methods and their types, calls, and gives the
// reply as JSON; nothing for a one-way method, nor for a stream, which is printed. Suspends.
//
// A failure of the method is its Error as text, "code: message". It is misuse when no method or
// more than one fits, when the request does not fit the method, or when an object is named where
// there are none, or none where there are.
Outcome run_dynamic_call(net::Network& network, const DynamicCall& call);

// What a method expects, promises and replies. Suspends, and fails as above.
Outcome describe_remote_method(net::Network& network, const net::HostPort& peer,
                               const std::string& method);

// All services of a peer with their methods. Suspends.
Outcome list_remote_methods(net::Network& network, const net::HostPort& peer);

// For completion: on each line the shortest name of a method, a tab and its full name. Suspends.
Outcome list_method_names(net::Network& network, const net::HostPort& peer);

}  // namespace corolane::tools::cli
