// What a .proto says of the objects that a service is the type of (options.proto).
#pragma once

#include <string>

namespace google::protobuf {
class ServiceDescriptor;
}

namespace corolane::rpc::detail {

// The message that each of them keeps, as the .proto names it. Empty when the service is of no
// objects, and for null: a service that was not generated from a linked proto.
std::string object_state_of(const google::protobuf::ServiceDescriptor* service);

}  // namespace corolane::rpc::detail
