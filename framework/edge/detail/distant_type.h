// SPDX-License-Identifier: MIT
// The objects of a type that lives on other nodes alone, as the clients of an edge node call them.
#pragma once

#include <span>
#include <vector>

#include "framework/objects/object.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

class Owners;

// The service has the methods of the objects; each call names its object, and is passed on.
class DistantType final : public rpc::Service {
 public:
  // `owners` outlives it.
  DistantType(const ObjectType& type, Owners& owners);

  const char* service_name() const override { return type_.name; }
  std::span<const rpc::Method> methods() const override { return rows_; }
  std::span<const rpc::SymbolComment> comments() const override { return type_.comments; }

 private:
  static Result<void> invoke(rpc::Service& service, const google::protobuf::Message& request,
                             rpc::Context& context, rpc::Messages& sink);

  const ObjectType type_;
  Owners& owners_;
  std::vector<rpc::Method> rows_;  // Those of the type, with another function.
};

}  // namespace corolane::framework::detail
