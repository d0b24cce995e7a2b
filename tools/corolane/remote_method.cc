// SPDX-License-Identifier: MIT
#include "tools/corolane/remote_method.h"

#include <chrono>
#include <utility>

#include "coroutine/stack/stack_pool.h"
#include "rpc/wire/frame.h"
#include "tools/corolane/message_text.h"

namespace corolane::tools::cli {

Failure no_fit(const Error& error, const RemoteTypes& types,
               const google::protobuf::Descriptor& type) {
  std::string message = "corolane: " + error.message() + "\n" + type.full_name() + " has\n" +
                        FieldsText(types).of(type);
  message.pop_back();  // The final line break.
  return {Failure::Kind::misused, std::move(message)};
}

rpc::Method calling_side_of(const rpc::MethodEntry& entry, std::optional<Duration> timeout) {
  return {
      .full_name = entry.full_name().c_str(),
      .id = rpc::method_id(entry.full_name()),
      .timeout = timeout.value_or(std::chrono::milliseconds(entry.timeout_ms())),
      .stack_size_bytes = coroutine::StackPool::stack_size_bytes_default,
      .priority = rpc::Priority::in_session,
      .idempotent = entry.idempotent(),
      .one_way = entry.one_way(),
      .client_streaming = entry.client_streaming(),
      .server_streaming = entry.server_streaming(),
      .is_public = entry.public_(),
      .durable = entry.durable(),
      .read_only = entry.read_only(),
  };
}

std::expected<void, Failure> check_object(const rpc::MethodEntry& method,
                                          const rpc::ServiceEntry& service, bool names_object) {
  const bool has_objects = !service.object_state().empty();
  if (has_objects == names_object) return {};
  if (has_objects) {
    return misused("corolane: " + method.full_name() +
                   " is a method of objects: name one "
                   "with --object ID");
  }
  return misused("corolane: " + service.name() + " has no objects: remove --object");
}

}  // namespace corolane::tools::cli
