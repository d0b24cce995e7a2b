#include "rpc/codegen/method_options.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <utility>

#include "config/units.h"
#include "coroutine/stack_pool.h"
#include "rpc/codegen/names.h"
#include "rpc/frame.h"
#include "rpc/options.pb.h"

namespace corolane::rpc::codegen {
namespace {

namespace pb = google::protobuf;
using coroutine::StackPool;

constexpr config::Bytes stack_size_min{StackPool::stack_size_bytes_min};
constexpr config::Bytes stack_size_max{StackPool::stack_size_bytes_max};

const MethodOptions& own_options(const pb::MethodDescriptor& method) {
  return method.options().GetExtension(corolane::method);
}

std::string known_priorities() {
  const pb::EnumDescriptor& type = *MethodOptions::Priority_descriptor();
  std::string names;
  for (int i = 1; i < type.value_count(); ++i) {
    names += (i == 1 ? "" : ", ") + type.value(i)->name();
  }
  return names;
}

}  // namespace

Result<Duration> timeout_of(const pb::MethodDescriptor& method) {
  const std::string& text = own_options(method).timeout();
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

Result<std::size_t> stack_size_bytes_of(const pb::MethodDescriptor& method) {
  const std::string& text = own_options(method).stack_size();
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

Result<std::string> priority_of(const pb::MethodDescriptor& method) {
  const MethodOptions::Priority priority = own_options(method).priority();
  if (priority == MethodOptions::PRIORITY_UNSPECIFIED) return std::string("in_session");
  if (!MethodOptions::Priority_IsValid(priority)) {
    return Error(Code::invalid_argument, "priority: there is no " + std::to_string(priority) +
                                             "; there are " + known_priorities());
  }
  return snake_case(MethodOptions::Priority_Name(priority));
}

bool is_one_way(const pb::MethodDescriptor& method) { return own_options(method).one_way(); }
bool is_public(const pb::MethodDescriptor& method) { return own_options(method).public_(); }

bool is_idempotent(const pb::MethodDescriptor& method) {
  if (own_options(method).idempotent()) return true;
  const bool is_unary = !method.server_streaming() && !is_one_way(method);
  return is_unary && method.options().idempotency_level() != pb::MethodOptions::IDEMPOTENCY_UNKNOWN;
}

}  // namespace corolane::rpc::codegen
