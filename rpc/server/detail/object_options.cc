// SPDX-License-Identifier: MIT
#include "rpc/server/detail/object_options.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include "rpc/options.pb.h"

namespace corolane::rpc::detail {

std::string object_state_of(const google::protobuf::ServiceDescriptor* service) {
  return service == nullptr ? "" : service->options().GetExtension(corolane::object).state();
}

}  // namespace corolane::rpc::detail
