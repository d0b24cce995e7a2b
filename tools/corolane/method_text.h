// The methods of a server for people who want to call one.
#pragma once

#include <string>

#include "coroutine/base/result.h"
#include "rpc/reflection/reflection.pb.h"
#include "tools/corolane/remote_types.h"

namespace corolane::tools::cli {

// Every service, with what its objects keep if it has some, and below it a line for each method
// with its types. Those that every node has come last.
std::string method_list(const rpc::ListServicesReply& services);

// What the .proto says of a method of that service, what it promises, the fields of its request and
// reply, and a command that calls it; `command` is that without the request, "corolane call
// HOST:PORT METHOD". Fails with not_found when a type is not among `types`.
Result<std::string> method_description(const rpc::MethodEntry& method,
                                       const rpc::ServiceEntry& service, const RemoteTypes& types,
                                       const std::string& command);

}  // namespace corolane::tools::cli
