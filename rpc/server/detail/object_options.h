// SPDX-License-Identifier: MIT
// Reads the object options of a service from its .proto (options.proto).
#pragma once

#include <string>

namespace google::protobuf {
class ServiceDescriptor;
}

namespace corolane::rpc::detail {

// The state message of the service's objects, as the .proto names it. Empty when the service has no
// objects, and for null: a service that was not generated from a linked proto.
std::string object_state_of(const google::protobuf::ServiceDescriptor* service);

}  // namespace corolane::rpc::detail
