// SPDX-License-Identifier: MIT
// Routes calls to objects, wherever they live; typed clients of objects use it.
//
//   CounterClient(router, "visits").add(request, {.deadline = deadline});
//
// A call goes to the shard that owns the object. On the caller's own shard it runs in the caller's
// task; to another shard of the process it is a message between threads; to another node it is a
// call over the connection. The caller suspends until it is answered. The callee is cancelled when
// the caller is, or at the deadline.
//
// Belongs to one shard: every shard has one.
#pragma once

#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "framework/push/detail/broadcast.h"
#include "framework/push/subscription_source.h"
#include "rpc/call_options.h"
#include "rpc/service.h"

namespace corolane::framework {

class Router : public SubscriptionSource {
 public:
  // Suspends. Fails as rpc::Client::call(); with failed_precondition when the object waits for this
  // very call (the message has the whole cycle), or when a chain of 256 objects that call one
  // another waits for it; with aborted when the object's handler waits for an object of this chain,
  // so that both would wait for ever: the calling handler returns, and its caller tries again; with
  // invalid_argument for an id of more than object_id_bytes_max, before anything is made or stored;
  // with unimplemented when no node hosts objects of that type; with resource_exhausted when too
  // many calls wait for the object; with aborted when the object keeps moving; and with the error
  // of on_activate() or of the store when the object cannot be activated.
  virtual Result<void> call(const rpc::Method& method, const std::string& id,
                            const google::protobuf::Message& request,
                            google::protobuf::Message& reply, const rpc::CallOptions& options) = 0;

  // The same for methods that reply with a stream: each message is written to `sink`. Suspends
  // until the stream has ended. Nothing is retried once a message has arrived: then it fails with
  // aborted when the object moves. Fails with invalid_argument when there is a request id.
  virtual Result<void> stream(const rpc::Method& method, const std::string& id,
                              const google::protobuf::Message& request, rpc::Messages& sink,
                              const rpc::CallOptions& options) = 0;

  // The same for one-way methods. Success means that the request was sent, and no more.
  virtual Result<void> notify(const rpc::Method& method, const std::string& id,
                              const google::protobuf::Message& request,
                              const rpc::CallOptions& options) = 0;

  // A router that does not support subscriptions returns a reader that fails with unimplemented.
  detail::Broadcast::Reader subscribe(std::string_view type, const std::string& id,
                                      const google::protobuf::Message& prototype) override;

 protected:
  ~Router() = default;
};

}  // namespace corolane::framework
