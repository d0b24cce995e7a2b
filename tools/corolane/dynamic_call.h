// SPDX-License-Identifier: MIT
// Calls methods that this program was not built with, and lists the methods of a server.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "net/network.h"
#include "tools/corolane/command.h"
#include "tools/corolane/remote_peer.h"

namespace corolane::tools::cli {

struct DynamicCall {
  RemotePeer peer;
  std::string method;                 // A name for find_method().
  std::string request = "{}";         // JSON.
  std::optional<std::string> object;  // The id, for a method of objects.
  std::optional<Duration> timeout;    // By default that of the method.
  // Called with each message of a stream as it arrives, as JSON on one line.
  std::function<void(const std::string& line)> print;
};

// Connects, asks the Reflection of the peer for its methods and their types, calls, and returns the
// reply as JSON; "" for a one-way method, and for a stream, which is printed. Suspends.
//
// A failure of the method is its Error as text, "code: message". It is misuse when no method or
// more than one matches, when the request does not fit the method, when a method of objects is
// called without an object, or another method with one.
Outcome run_dynamic_call(net::Network& network, const DynamicCall& call);

// Describes the request, the guarantees and the reply of a method. Suspends, and fails as above.
Outcome describe_remote_method(net::Network& network, const RemotePeer& peer,
                               const std::string& method);

// Lists all services of a peer with their methods. Suspends.
Outcome list_remote_methods(net::Network& network, const RemotePeer& peer);

// For completion: each line has the shortest name of a method, a tab and its full name. Suspends.
Outcome list_method_names(net::Network& network, const RemotePeer& peer);

}  // namespace corolane::tools::cli
