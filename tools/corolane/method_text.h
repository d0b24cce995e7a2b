// SPDX-License-Identifier: MIT
// The methods of a server as text, for people who want to call one.
#pragma once

#include <string>

#include "coroutine/base/result.h"
#include "rpc/reflection/reflection.pb.h"
#include "tools/corolane/remote_types.h"

namespace corolane::tools::cli {

// Lists every service, with the state of its objects if it has some, and a line for each method
// with its types. The services of every node come last.
std::string method_list(const rpc::ListServicesReply& services);

// Describes a method: its comment in the .proto, its guarantees, the fields of its request and
// reply, and a command that calls it. `command` is that command without the request: "corolane call
// HOST:PORT METHOD". Fails with not_found when a type is not among `types`.
Result<std::string> method_description(const rpc::MethodEntry& method,
                                       const rpc::ServiceEntry& service, const RemoteTypes& types,
                                       const std::string& command);

}  // namespace corolane::tools::cli
