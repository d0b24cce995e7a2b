// SPDX-License-Identifier: MIT
// A router that makes no call: it puts them into an outbox.
#pragma once

#include <string>
#include <utility>

#include "framework/objects/detail/owners.h"
#include "framework/routing/router.h"

namespace corolane::framework::detail {

class OutboxRouter final : public Router {
 public:
  // `sink` outlives it.
  explicit OutboxRouter(OutboxSink& sink) : sink_(sink) {}

  Result<void> call(const rpc::Method& method, const std::string& id,
                    const google::protobuf::Message& request, google::protobuf::Message&,
                    const rpc::CallOptions&) override {
    return put(method, id, request);
  }
  Result<void> stream(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request, rpc::Messages&,
                      const rpc::CallOptions&) override {
    return put(method, id, request);
  }
  Result<void> notify(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request, const rpc::CallOptions&) override {
    return put(method, id, request);
  }

 private:
  Result<void> put(const rpc::Method& method, const std::string& id,
                   const google::protobuf::Message& request) {
    auto put = sink_.put(method, id, request);
    if (!put) return std::move(put.error()).with_origin(Origin::runtime);
    return put;
  }

  OutboxSink& sink_;
};

}  // namespace corolane::framework::detail
