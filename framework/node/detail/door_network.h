// SPDX-License-Identifier: MIT
// The network of one door: inside TLS when the configuration names its files, which a reload reads
// again.
//
//   DoorNetwork clients(network, "node.clients.tls");
//   if (auto opened = clients.open({.certificate_file = "node.pem", .key_file = "node.key"}); ...
//   server.listen(endpoint, {.network = &clients.network()});
//
// Belongs to one scheduler's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "coroutine/base/result.h"
#include "net/tls/tls.h"

namespace corolane::framework::detail {

class DoorNetwork {
 public:
  // `inner` outlives it. Messages name `key`, where the files are configured.
  DoorNetwork(net::Network& inner, std::string key) : inner_(inner), key_(std::move(key)) {}

  // Begins to use TLS, unless `files` names neither a certificate nor a CA. Fails as
  // net::TlsContext::load(). Does nothing when called again.
  Result<void> open(const net::TlsOptions& files, const net::TlsNetwork::Options& options = {});
  net::Network& network() { return tls_ == nullptr ? inner_ : *tls_; }
  bool is_tls() const { return tls_ != nullptr; }

  // A reload in two steps: the first reads the files, and may fail; the second uses what was read
  // for connections that begin from then on.
  Result<void> prepare_change();
  void change();

 private:
  net::Network& inner_;
  const std::string key_;
  std::unique_ptr<net::TlsContext> context_;
  std::unique_ptr<net::TlsNetwork> tls_;
  std::function<void()> prepared_;
};

}  // namespace corolane::framework::detail
