// SPDX-License-Identifier: MIT
// Where objects live, and the way to those that do not live here: what the objects of a shard need
// of its router.
#pragma once

#include <memory>
#include <string>

#include "coroutine/base/result.h"
#include "framework/wire/detail/object_error.h"
#include "framework/wire/partition.h"
#include "rpc/call_options.h"
#include "rpc/service.h"

namespace corolane::framework {
class Router;
}

namespace corolane::framework::detail {

class HostedType;

// Keeps calls that are made later.
class OutboxSink {
 public:
  virtual Result<void> put(const rpc::Method& method, const std::string& id,
                           const google::protobuf::Message& request) = 0;

 protected:
  ~OutboxSink() = default;
};

class Owners {
 public:
  // Whether objects of that partition live on this shard when the node owns it.
  virtual bool is_here(Partition partition) const = 0;
  // The owner of a partition that is not ours, as far as known.
  virtual Moved owner_of(const HostedType& type, Partition partition) const = 0;
  // Reports that another node than known seems to own that partition.
  virtual void doubt(const HostedType& type, Partition partition) = 0;
  // Reports that the store knows a later owner of an object that this node serves without a lease.
  virtual void lose() = 0;

  // Forward a call to the owner of the object. Suspend, and fail as Router::call(); stream() is for
  // methods that reply with a stream, and deliver() for one-way methods; both return when the
  // handler has ended.
  virtual Result<void> call(const rpc::Method& method, const std::string& id,
                            const google::protobuf::Message& request,
                            google::protobuf::Message& reply, const rpc::CallOptions& options) = 0;
  virtual Result<void> stream(const rpc::Method& method, const std::string& id,
                              const google::protobuf::Message& request, rpc::Messages& sink,
                              const rpc::CallOptions& options) = 0;
  virtual Result<void> deliver(const rpc::Method& method, const std::string& id,
                               const google::protobuf::Message& request,
                               const rpc::CallOptions& options) = 0;

  // Serves a call of another node, which assumes that the object lives on this one, on the shard of
  // its partition. Suspends, and fails as ObjectHost::serve_or_send_on().
  virtual Result<void> forward(const rpc::Method& method, const google::protobuf::Message& request,
                               rpc::Context& context, rpc::Messages& sink) = 0;

  // For handlers that call other objects.
  virtual Router& router() = 0;
  // A router that puts all calls into `sink`, which outlives it.
  virtual std::shared_ptr<Router> outbox_router(OutboxSink& sink) = 0;

 protected:
  ~Owners() = default;
};

}  // namespace corolane::framework::detail
