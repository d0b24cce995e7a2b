// SPDX-License-Identifier: MIT
#include "rpc/reflection/detail/visible_symbols.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>

#include "rpc/server/server.h"

namespace corolane::rpc::detail {
namespace {

namespace pb = google::protobuf;

const pb::DescriptorPool& linked() { return *pb::DescriptorPool::generated_pool(); }

std::string symbol_of(std::string method) {
  std::ranges::replace(method, '/', '.');
  return method;
}

// Keeps the items for which `stays` is true, in order.
template <typename Items, typename Stays>
void keep(Items& items, Stays stays) {
  for (int i = items.size(); i-- > 0;) {
    if (!stays(*items.Mutable(i))) items.DeleteSubrange(i, 1);
  }
}

}  // namespace

VisibleSymbols::VisibleSymbols(const Server& server, Door door) : door_(door) {
  if (door == Door::nodes) return;
  for (const Service* const service : server.services()) {
    for (const Method* const method : server.methods(*service, door)) {
      const std::string symbol = symbol_of(method->full_name);
      services_.insert(service->service_name());
      methods_.insert(symbol);
      const pb::MethodDescriptor* const descriptor = linked().FindMethodByName(symbol);
      if (descriptor == nullptr) continue;
      add(*descriptor->input_type());
      add(*descriptor->output_type());
    }
  }
}

void VisibleSymbols::add(const pb::Descriptor& message) {
  if (!messages_.insert(&message).second) return;
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    if (field.message_type() != nullptr) add(*field.message_type());
    if (field.enum_type() != nullptr) enums_.insert(field.enum_type());
  }
}

bool VisibleSymbols::contains(const std::string& symbol) const {
  if (door_ == Door::nodes) return true;
  if (services_.contains(symbol) || methods_.contains(symbol)) return true;
  if (const auto* message = linked().FindMessageTypeByName(symbol)) {
    return messages_.contains(message);
  }
  if (const auto* field = linked().FindFieldByName(symbol)) {
    return messages_.contains(field->containing_type());
  }
  if (const auto* one_of = linked().FindOneofByName(symbol)) {
    return messages_.contains(one_of->containing_type());
  }
  if (const auto* type = linked().FindEnumTypeByName(symbol)) return enums_.contains(type);
  const auto* const value = linked().FindEnumValueByName(symbol);
  return value != nullptr && enums_.contains(value->type());
}

void VisibleSymbols::prune(pb::FileDescriptorProto& file) const {
  if (door_ == Door::nodes) return;
  const std::string package = file.package().empty() ? "" : file.package() + ".";
  keep(*file.mutable_service(), [&](pb::ServiceDescriptorProto& service) {
    const std::string name = package + service.name();
    keep(*service.mutable_method(), [&](const pb::MethodDescriptorProto& method) {
      return methods_.contains(name + "." + method.name());
    });
    return services_.contains(name);
  });
}

}  // namespace corolane::rpc::detail
