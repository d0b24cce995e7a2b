// What `option (corolane.method)` says of a method and `option (corolane.object)` of a service,
// with defaults and limits.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"

namespace google::protobuf {
class Descriptor;
class MethodDescriptor;
class ServiceDescriptor;
}  // namespace google::protobuf

namespace corolane::rpc::codegen {

inline constexpr std::chrono::seconds timeout_default{10};

// All fail with invalid_argument and a message that says what would be right.
Result<Duration> timeout_of(const google::protobuf::MethodDescriptor& method);
Result<std::size_t> stack_size_bytes_of(const google::protobuf::MethodDescriptor& method);
// As rpc::Priority spells it, "in_session".
Result<std::string> priority_of(const google::protobuf::MethodDescriptor& method);

bool is_one_way(const google::protobuf::MethodDescriptor& method);
bool is_public(const google::protobuf::MethodDescriptor& method);
// By our option; where that can be said at all also by protobuf's own idempotency_level.
bool is_idempotent(const google::protobuf::MethodDescriptor& method);
bool is_durable(const google::protobuf::MethodDescriptor& method);
bool is_read_only(const google::protobuf::MethodDescriptor& method);

// Whether the service is the type of objects, by its option.
bool is_object(const google::protobuf::ServiceDescriptor& service);
// What the objects of this type keep; null when the service is not the type of any. Fails as those
// above.
Result<const google::protobuf::Descriptor*> state_of(
    const google::protobuf::ServiceDescriptor& service);
// What they publish; null when they publish nothing. Fails as those above.
Result<const google::protobuf::Descriptor*> publication_of(
    const google::protobuf::ServiceDescriptor& service);

}  // namespace corolane::rpc::codegen
