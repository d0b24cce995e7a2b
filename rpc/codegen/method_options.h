// What `option (corolane.method)` says of a method, with its defaults and limits.
#pragma once

#include <chrono>
#include <cstddef>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"

namespace google::protobuf {
class MethodDescriptor;
}

namespace corolane::rpc::codegen {

inline constexpr std::chrono::seconds timeout_default{10};

// Both fail with invalid_argument and a message that says what would be right.
Result<Duration> timeout_of(const google::protobuf::MethodDescriptor& method);
Result<std::size_t> stack_size_bytes_of(const google::protobuf::MethodDescriptor& method);

}  // namespace corolane::rpc::codegen
