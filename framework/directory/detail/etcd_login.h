// The token by which an etcd knows a user: asked for when it is needed, and again when etcd does
// not know it any more.
#pragma once

#include <optional>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/mutex.h"
#include "framework/directory/etcd_directory.h"
#include "net/endpoint.h"
#include "net/network.h"

namespace corolane::framework::detail {

class EtcdLogin {
 public:
  // Both outlive it.
  EtcdLogin(net::Network& network, const EtcdDirectory::Options& options)
      : network_(network), options_(options) {}

  bool has_user() const { return !options_.user.empty(); }
  // Empty without a user, and when etcd does not ask for any. Suspends while it is got, by one task
  // for all that wait for it. Fails with unauthenticated when etcd does not know the user.
  Result<std::string> token(const net::HostPort& member, Deadline deadline);
  // It was refused.
  void forget(const std::string& token);

 private:
  net::Network& network_;
  const EtcdDirectory::Options& options_;
  std::optional<std::string> token_;
  coroutine::Mutex asking_;
};

// A failure of the way to etcd: what it said of a host or of bytes says nothing about a lease or a
// transaction, so that it becomes unavailable.
Error etcd_out_of_reach(Error error);

}  // namespace corolane::framework::detail
