// SPDX-License-Identifier: MIT
#include "rpc/reflection/reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "rpc/reflection/detail/visible_symbols.h"
#include "rpc/server/detail/object_options.h"

namespace corolane::rpc {
namespace {

namespace pb = google::protobuf;

const char* priority_text(Priority priority) {
  switch (priority) {
    case Priority::control:
      return "control";
    case Priority::in_session:
      return "in_session";
    case Priority::login:
      return "login";
    case Priority::background:
      return "background";
  }
  return "";
}

// `service` is null for a method that was not generated from a linked proto: its types stay empty.
MethodEntry describe_method(const Method& method, const pb::ServiceDescriptor* service) {
  MethodEntry entry;
  entry.set_full_name(method.full_name);
  entry.set_timeout_ms(std::chrono::ceil<std::chrono::milliseconds>(method.timeout).count());
  entry.set_client_streaming(method.client_streaming);
  entry.set_server_streaming(method.server_streaming);
  entry.set_one_way(method.one_way);
  entry.set_idempotent(method.idempotent);
  entry.set_public_(method.is_public);
  entry.set_durable(method.durable);
  entry.set_read_only(method.read_only);
  entry.set_priority(priority_text(method.priority));
  if (service == nullptr) return entry;
  const std::string name = entry.full_name().substr(entry.full_name().find('/') + 1);
  if (const pb::MethodDescriptor* descriptor = service->FindMethodByName(name)) {
    entry.set_request_type(descriptor->input_type()->full_name());
    entry.set_reply_type(descriptor->output_type()->full_name());
  }
  return entry;
}

ServiceEntry describe_service(const Service& service, const std::vector<const Method*>& methods) {
  ServiceEntry entry;
  entry.set_name(service.service_name());
  const auto* descriptor =
      pb::DescriptorPool::generated_pool()->FindServiceByName(service.service_name());
  entry.set_object_state(detail::object_state_of(descriptor));
  for (const Method* const method : methods) {
    *entry.add_methods() = describe_method(*method, descriptor);
  }
  return entry;
}

// Appends `file` after what it imports, each file once.
void append_with_imports(const pb::FileDescriptor& file, const detail::VisibleSymbols& visible,
                         std::set<const pb::FileDescriptor*>& seen, DescribeReply& reply) {
  if (!seen.insert(&file).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) {
    append_with_imports(*file.dependency(i), visible, seen, reply);
  }
  pb::FileDescriptorProto proto;
  file.CopyTo(&proto);
  visible.prune(proto);
  proto.SerializeToString(reply.add_files());
}

}  // namespace

Result<ListServicesReply> ReflectionService::list_services(const ListServicesRequest&,
                                                           Context& context) {
  std::vector<const Service*> services = server_->services();
  std::ranges::sort(services, {}, [](const Service* service) -> std::string_view {
    return service->service_name();
  });
  ListServicesReply reply;
  for (const Service* service : services) {
    const auto methods = server_->methods(*service, context.door());
    if (!methods.empty()) *reply.add_services() = describe_service(*service, methods);
  }
  return reply;
}

Result<DescribeReply> ReflectionService::describe(const DescribeRequest& request,
                                                  Context& context) {
  const detail::VisibleSymbols visible(*server_, context.door());
  const pb::FileDescriptor* file =
      pb::DescriptorPool::generated_pool()->FindFileContainingSymbol(request.symbol());
  if (file == nullptr || !visible.contains(request.symbol())) {
    return Error(Code::not_found, "no message or service \"" + request.symbol() +
                                      "\" is known here; ListServices lists the services");
  }
  DescribeReply reply;
  std::set<const pb::FileDescriptor*> seen;
  append_with_imports(*file, visible, seen, reply);
  for (const Service* service : server_->services()) {
    if (service->service_name() != request.symbol()) continue;
    for (const auto& [symbol, text] : service->comments()) {
      if (!visible.contains(symbol)) continue;
      Comment& comment = *reply.add_comments();
      comment.set_symbol(std::string(symbol));
      comment.set_text(std::string(text));
    }
  }
  return reply;
}

}  // namespace corolane::rpc
