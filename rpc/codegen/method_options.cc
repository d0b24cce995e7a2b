// SPDX-License-Identifier: MIT
#include "rpc/codegen/method_options.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <utility>

#include "config/units.h"
#include "coroutine/stack/stack_pool.h"
#include "rpc/codegen/names.h"
#include "rpc/options.pb.h"
#include "rpc/wire/frame.h"

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

// Whether a file that imports `file` sees the definitions in `other`.
bool hands_on(const pb::FileDescriptor& file, const pb::FileDescriptor& other) {
  if (&file == &other) return true;
  for (int i = 0; i < file.public_dependency_count(); ++i) {
    if (hands_on(*file.public_dependency(i), other)) return true;
  }
  return false;
}

bool sees(const pb::FileDescriptor& file, const pb::FileDescriptor& other) {
  if (&file == &other) return true;
  for (int i = 0; i < file.dependency_count(); ++i) {
    if (hands_on(*file.dependency(i), other)) return true;
  }
  return false;
}

// Looks a message up as protoc does for the type of a field: from the innermost scope to the
// outermost.
const pb::Descriptor* find_message(const std::string& name, const pb::ServiceDescriptor& service) {
  const pb::FileDescriptor& file = *service.file();
  std::string scope = name.starts_with('.') ? "" : file.package();
  const std::string relative = name.starts_with('.') ? name.substr(1) : name;
  while (true) {
    std::string full_name = scope;
    if (!scope.empty()) full_name += '.';
    full_name += relative;
    const pb::Descriptor* const found = file.pool()->FindMessageTypeByName(full_name);
    if (found != nullptr && sees(file, *found->file())) return found;
    if (scope.empty()) return nullptr;
    const std::size_t dot = scope.rfind('.');
    scope = dot == std::string::npos ? "" : scope.substr(0, dot);
  }
}

Result<const pb::Descriptor*> message_of(const std::string& option, const std::string& name,
                                         const pb::ServiceDescriptor& service) {
  if (const pb::Descriptor* const message = find_message(name, service)) return message;
  return Error(Code::invalid_argument, option + ": \"" + name +
                                           "\" is not a message of this file or of one that it "
                                           "imports");
}

Result<Duration> read_timeout(const std::string& option, const std::string& text,
                              Duration otherwise) {
  auto timeout = config::parse_duration(text);
  if (!timeout) return std::move(timeout.error()).with_context(option);
  if (*timeout == Duration::zero()) {
    return Error(Code::invalid_argument, option + ": \"" + text +
                                             "\" would end every call at once; leave it out for " +
                                             config::format_duration(otherwise));
  }
  if (*timeout > time_left_max) {
    return Error(Code::invalid_argument, option + ": \"" + text + "\" is above " +
                                             config::format_duration(time_left_max) +
                                             ", the maximum that a request can carry");
  }
  return timeout;
}

}  // namespace

Result<Duration> timeout_of(const pb::MethodDescriptor& method) {
  const std::string& text = own_options(method).timeout();
  if (text.empty()) return timeout_default;
  return read_timeout("timeout", text, timeout_default);
}

Result<Duration> timeout_max_of(const pb::MethodDescriptor& method) {
  const std::string& text = own_options(method).timeout_max();
  if (text.empty()) return Duration::zero();
  if (!is_public(method)) {
    return Error(Code::invalid_argument,
                 "timeout_max: it bounds clients, which call public methods only; leave it out");
  }
  const Duration timeout = timeout_of(method).value_or(timeout_default);
  auto longest = read_timeout("timeout_max", text, timeout);
  if (!longest || *longest >= timeout) return longest;
  return Error(Code::invalid_argument, "timeout_max: \"" + text + "\" is less than the timeout, " +
                                           config::format_duration(timeout));
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

bool is_stream(const pb::MethodDescriptor& method) {
  return method.client_streaming() || method.server_streaming();
}
bool is_one_way(const pb::MethodDescriptor& method) { return own_options(method).one_way(); }
bool is_public(const pb::MethodDescriptor& method) { return own_options(method).public_(); }
bool is_durable(const pb::MethodDescriptor& method) { return own_options(method).durable(); }
bool is_read_only(const pb::MethodDescriptor& method) { return own_options(method).read_only(); }

bool is_idempotent(const pb::MethodDescriptor& method) {
  if (own_options(method).idempotent()) return true;
  const bool is_unary = !is_stream(method) && !is_one_way(method);
  return is_unary && method.options().idempotency_level() != pb::MethodOptions::IDEMPOTENCY_UNKNOWN;
}

bool is_object(const pb::ServiceDescriptor& service) {
  return service.options().HasExtension(corolane::object);
}

Result<const pb::Descriptor*> state_of(const pb::ServiceDescriptor& service) {
  if (!is_object(service)) return nullptr;
  const std::string& name = service.options().GetExtension(corolane::object).state();
  if (name.empty()) {
    return Error(Code::invalid_argument,
                 "state: which message do these objects keep? An empty one, if they keep nothing");
  }
  return message_of("state", name, service);
}

Result<const pb::Descriptor*> publication_of(const pb::ServiceDescriptor& service) {
  const std::string& name = service.options().GetExtension(corolane::object).publishes();
  if (name.empty()) return nullptr;
  return message_of("publishes", name, service);
}

}  // namespace corolane::rpc::codegen
