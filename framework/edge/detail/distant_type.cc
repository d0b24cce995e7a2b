// SPDX-License-Identifier: MIT
#include "framework/edge/detail/distant_type.h"

#include "framework/objects/detail/owners.h"
#include "framework/objects/detail/pass_on.h"
#include "framework/objects/detail/request_ledger.h"

namespace corolane::framework::detail {

DistantType::DistantType(const ObjectType& type, Owners& owners)
    : type_(type), owners_(owners), rows_(type.methods.begin(), type.methods.end()) {
  for (rpc::Method& row : rows_) {
    row.invoke = invoke;
    row.passes_on = true;
  }
}

Result<void> DistantType::invoke(rpc::Service& service, const google::protobuf::Message& request,
                                 rpc::Context& context, rpc::Messages& sink) {
  const auto& type = static_cast<DistantType&>(service);
  if (context.object() == nullptr) return object_is_missing(context);
  if (auto valid = check_request_id(context.object()->request_id); !valid) return valid;
  const auto index = static_cast<std::size_t>(&context.descriptor() - type.rows_.data());
  return pass_on(type.owners_, type.type_.methods[index], request, context, sink);
}

}  // namespace corolane::framework::detail
