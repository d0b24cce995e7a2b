// A method that the server told of, made ready to be called.
#pragma once

#include <google/protobuf/descriptor.h>

#include <expected>
#include <optional>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "rpc/reflection/reflection.pb.h"
#include "rpc/service.h"
#include "tools/corolane/command.h"
#include "tools/corolane/remote_types.h"

namespace corolane::tools::cli {

// As rpc::Client wants it; without a timeout it has its own one. `entry` outlives it.
rpc::Method calling_side_of(const rpc::MethodEntry& entry, std::optional<Duration> timeout);

// Misused unless an object is named exactly where there are some.
std::expected<void, Failure> check_object(const rpc::MethodEntry& method,
                                          const rpc::ServiceEntry& service, bool names_object);

// Says why a request is none of that type, and what the type has.
Failure no_fit(const Error& error, const RemoteTypes& types,
               const google::protobuf::Descriptor& type);

}  // namespace corolane::tools::cli
