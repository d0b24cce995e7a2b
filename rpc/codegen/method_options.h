// SPDX-License-Identifier: MIT
// Reads `option (corolane.method)` of a method and `option (corolane.object)` of a service, with
// defaults and limits.
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

// All fail with invalid_argument and a message that says what is allowed.
Result<Duration> timeout_of(const google::protobuf::MethodDescriptor& method);
// Zero when it is not set.
Result<Duration> timeout_max_of(const google::protobuf::MethodDescriptor& method);
Result<std::size_t> stack_size_bytes_of(const google::protobuf::MethodDescriptor& method);
// Spelled as in rpc::Priority: "in_session".
Result<std::string> priority_of(const google::protobuf::MethodDescriptor& method);

// In either direction.
bool is_stream(const google::protobuf::MethodDescriptor& method);
bool is_one_way(const google::protobuf::MethodDescriptor& method);
bool is_public(const google::protobuf::MethodDescriptor& method);
// By our option, or by protobuf's own idempotency_level if the method is unary.
bool is_idempotent(const google::protobuf::MethodDescriptor& method);
bool is_durable(const google::protobuf::MethodDescriptor& method);
bool is_read_only(const google::protobuf::MethodDescriptor& method);

// Whether the service is a type of objects, by its option.
bool is_object(const google::protobuf::ServiceDescriptor& service);
// The state message of the objects; null when the service has no objects. Fails as the functions
// above.
Result<const google::protobuf::Descriptor*> state_of(
    const google::protobuf::ServiceDescriptor& service);
// The message that they publish; null when they publish nothing. Fails as the functions above.
Result<const google::protobuf::Descriptor*> publication_of(
    const google::protobuf::ServiceDescriptor& service);

}  // namespace corolane::rpc::codegen
