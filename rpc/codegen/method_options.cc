#include "rpc/codegen/method_options.h"

#include <google/protobuf/descriptor.h>

#include <string>

#include "config/units.h"
#include "coroutine/stack_pool.h"
#include "rpc/frame.h"
#include "rpc/options.pb.h"

namespace corolane::rpc::codegen {
namespace {

using coroutine::StackPool;

constexpr config::Bytes stack_size_min{StackPool::stack_size_bytes_min};
constexpr config::Bytes stack_size_max{StackPool::stack_size_bytes_max};

}  // namespace

Result<Duration> timeout_of(const google::protobuf::MethodDescriptor& method) {
  const std::string& text = method.options().GetExtension(corolane::method).timeout();
  if (text.empty()) return timeout_default;
  auto timeout = config::parse_duration(text);
  if (!timeout) return std::move(timeout.error()).with_context("timeout");
  if (*timeout == Duration::zero()) {
    return Error(Code::invalid_argument, "timeout: \"" + text +
                                             "\" would end every call at once; leave it out for " +
                                             config::format_duration(timeout_default));
  }
  if (*timeout > time_left_max) {
    return Error(Code::invalid_argument, "timeout: \"" + text + "\" is above " +
                                             config::format_duration(time_left_max) +
                                             ", the most that a request can say");
  }
  return timeout;
}

Result<std::size_t> stack_size_bytes_of(const google::protobuf::MethodDescriptor& method) {
  const std::string& text = method.options().GetExtension(corolane::method).stack_size();
  if (text.empty()) return StackPool::stack_size_bytes_default;
  auto size = config::parse_bytes(text);
  if (!size) return std::move(size.error()).with_context("stack_size");
  if (*size < stack_size_min || *size > stack_size_max) {
    return Error(Code::invalid_argument, "stack_size: \"" + text + "\" is not between " +
                                             config::format_bytes(stack_size_min) + " and " +
                                             config::format_bytes(stack_size_max));
  }
  return std::size_t{size->count};
}

}  // namespace corolane::rpc::codegen
