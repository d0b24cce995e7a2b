// SPDX-License-Identifier: MIT
// A server and a client with TLS over the simulated network: the common start of TLS tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "coroutine/task.h"
#include "net/testing/certificates.h"
#include "net/testing/network.h"
#include "net/tls/tls.h"
#include "test/net/stream_pair.h"

namespace corolane::net {

// Keys are made once: only they take time.
inline test::CertificateAuthority& cluster_authority() {
  static test::CertificateAuthority authority("the cluster");
  return authority;
}
inline test::CertificateAuthority& foreign_authority() {
  static test::CertificateAuthority authority("another authority");
  return authority;
}

inline TlsOptions tls_options(const test::CertificateFiles& files) {
  return {.certificate_file = files.certificate_file,
          .key_file = files.key_file,
          .ca_file = cluster_authority().file()};
}

// For a server at "server" and at loopback.
inline TlsOptions server_tls() {
  static const auto files = cluster_authority().issue(
      {.common_name = "ignored", .dns_names = {"server"}, .addresses = {"127.0.0.1"}});
  return tls_options(files);
}
inline TlsOptions client_tls() { return {.ca_file = cluster_authority().file()}; }
inline TlsOptions named_client_tls() {
  static const auto files = cluster_authority().issue({.dns_names = {"client-1", "other"}});
  return tls_options(files);
}

inline std::unique_ptr<TlsContext> load_tls(TlsOptions options) {
  auto context = TlsContext::load(std::move(options));
  check(context.has_value(), "the certificates of the test are right");
  return *std::move(context);
}

struct TlsWorldOptions {
  TlsOptions server = server_tls();
  TlsOptions client = client_tls();
  sim::SimulatedNetwork::Options network = {};
  TlsNetwork::Options server_network = {};
  TlsNetwork::Options client_network = {};
};

struct TlsWorld {
  explicit TlsWorld(TlsWorldOptions options = {})
      : network(options.network),
        server_context(load_tls(std::move(options.server))),
        client_context(load_tls(std::move(options.client))),
        server(network, *server_context, options.server_network),
        client(network, *client_context, options.client_network) {}

  // Connects; returns both ends, or the client's failure. Suspends.
  Result<StreamPair> connect(StreamOptions client_options = {}, StreamOptions server_options = {}) {
    auto listener = server.listen(endpoint, {.stream = server_options});
    if (!listener) return listener.error();
    auto accepting = coroutine::spawn("accept", [&] { return (*listener)->accept(test::soon()); });
    auto connected = client.connect(endpoint, test::soon(), client_options);
    if (!connected) return connected.error();
    auto accepted = accepting.join(test::soon());
    if (!accepted) return accepted.error();
    return StreamPair{.client = *std::move(connected), .server = *std::move(accepted)};
  }

  const Endpoint endpoint{.address = "server", .port = 1};
  sim::SimulatedNetwork network;
  std::unique_ptr<TlsContext> server_context;
  std::unique_ptr<TlsContext> client_context;
  TlsNetwork server;
  TlsNetwork client;
};

}  // namespace corolane::net
