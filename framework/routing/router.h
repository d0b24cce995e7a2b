// The way to objects, wherever they live: what typed clients of objects are made of.
//
//   CounterClient(router, "visits").add(request, {.deadline = deadline});
//
// A call goes to the shard that owns the object: on the caller's own it is a part of the caller's
// task, on another one of the same process a message between threads, on another node a call over
// its connection. It suspends until it is answered; the callee is cancelled when the caller is, or
// at the deadline.
//
// Belongs to one shard: every shard has one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "framework/push/detail/broadcast.h"
#include "rpc/call_options.h"
#include "rpc/service.h"

namespace corolane::framework {

// What an object may be called, whoever calls it: an id lies in every table, in the store and in
// its index, and none of them has room for what strangers can send.
inline constexpr std::size_t object_id_bytes_max = 256;

class Router {
 public:
  // Suspends. Fails as rpc::Client::call(); and with failed_precondition when the object waits for
  // this very call: the message has the whole cycle; and when 256 objects that have called one
  // another wait for it. With invalid_argument for an id of more than object_id_bytes_max, before
  // anything is made or stored. With unimplemented when no node hosts objects
  // of that type, with resource_exhausted when too many calls wait for the object, with aborted
  // when it moved again and again, with what its on_activate() or the store says when it cannot be
  // activated.
  virtual Result<void> call(const rpc::Method& method, const std::string& id,
                            const google::protobuf::Message& request,
                            google::protobuf::Message& reply, const rpc::CallOptions& options) = 0;

  // The same for one-way methods. Success means that the request is on its way, and no more.
  virtual Result<void> notify(const rpc::Method& method, const std::string& id,
                              const google::protobuf::Message& request,
                              const rpc::CallOptions& options) = 0;

  // What subscriptions are made of (subscription.h): reads what the object publishes, messages as
  // `prototype`, which lives as long as the program. Never suspends. Of a router that does not lead
  // there, reading fails with unimplemented.
  virtual detail::Broadcast::Reader subscribe(std::string_view type, const std::string& id,
                                              const google::protobuf::Message& prototype);

 protected:
  ~Router() = default;
};

}  // namespace corolane::framework
