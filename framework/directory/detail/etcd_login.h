// SPDX-License-Identifier: MIT
// The token of a user in etcd: requested on demand, and again when etcd refuses it.
#pragma once

#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/once.h"
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
  // Empty without a user, and when etcd requires no authentication. Suspends during the request,
  // which one task makes for all waiting ones. Fails with unauthenticated when etcd rejects the
  // user.
  Result<std::string> token(const net::HostPort& member, Deadline deadline);
  // Called when the token was refused.
  void forget(const std::string& token);

 private:
  Result<std::string> ask(const net::HostPort& member, Deadline deadline);

  net::Network& network_;
  const EtcdDirectory::Options& options_;
  coroutine::Once<std::string, std::string> tokens_{"token of etcd"};  // By user.
};

// Translates a transport failure: its code concerns a host or bytes and says nothing about a lease
// or a transaction, so it becomes unavailable.
Error etcd_out_of_reach(Error error);

}  // namespace corolane::framework::detail
