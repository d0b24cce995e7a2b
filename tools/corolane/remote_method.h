// SPDX-License-Identifier: MIT
// Prepares the call of a method that the server described.
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

// The method in the form that rpc::Client takes. Without `timeout`, the method's own applies.
// `entry` outlives it.
rpc::Method calling_side_of(const rpc::MethodEntry& entry, std::optional<Duration> timeout);

// Misused when a method of objects is called without an object, or another method with one.
std::expected<void, Failure> check_object(const rpc::MethodEntry& method,
                                          const rpc::ServiceEntry& service, bool names_object);

// Says why a request does not fit the type, and lists the fields of the type.
Failure no_fit(const Error& error, const RemoteTypes& types,
               const google::protobuf::Descriptor& type);

}  // namespace corolane::tools::cli
