// SPDX-License-Identifier: MIT
// TLS around the connections of any Network, for servers and clients, with certificates on either
// side or on both.
//
//   auto context = net::TlsContext::load({.certificate_file = "node.pem", .key_file = "node.key",
//                                         .ca_file = "cluster-ca.pem",
//                                         .needs_peer_certificate = true});
//   if (!context) return context.error();
//   net::TlsNetwork secure(network, **context);
//   rpc::Server server(secure, {});
//
// Versions 1.3 and 1.2 (RFC 8446, RFC 5246). OpenSSL handles the records; it is fed on the loop's
// stack and has no socket, so that an idle connection costs neither a task nor a stack.
//
// All of it belongs to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/network.h"

namespace corolane::net {

namespace detail {
struct TlsSettings;
struct TlsShared;
}  // namespace detail

// Files are PEM.
struct TlsOptions {
  // Our certificate first, then those that lead from it to a CA. A server needs one; a client shows
  // it to servers that ask.
  std::string certificate_file = {};
  std::string key_file = {};
  // The CAs that sign our peers. Without it a client trusts those of the system, and a server does
  // not ask for certificates.
  std::string ca_file = {};
  // For a server: refuses a peer without a certificate. Otherwise such a peer has no identity.
  bool needs_peer_certificate = false;
};

// Keys, certificates and CAs, for any number of networks. A context outlives its networks.
class TlsContext {
 public:
  // Reads the files. Fails with not_found or permission_denied for a file that cannot be read, and
  // with invalid_argument when a file holds no PEM, when the key does not match the certificate, or
  // when the certificate is not valid today. The message names the file.
  static Result<std::unique_ptr<TlsContext>> load(TlsOptions options);

  // Reads the files again: new connections use their contents. All or nothing: on a failure, as
  // that of load(), everything stays unchanged. Open connections keep the settings they began with.
  Result<void> reload();

  // The same in two steps, for several contexts that change together or not at all: reads and
  // checks the files, and returns a function that applies the change. Fails as load() does. The
  // context outlives the function.
  Result<std::function<void()>> prepare_reload();

  const TlsOptions& options() const { return options_; }

 private:
  friend class TlsNetwork;
  TlsContext(TlsOptions options, std::shared_ptr<const detail::TlsSettings> settings);

  const TlsOptions options_;
  std::shared_ptr<const detail::TlsSettings> settings_;
};

// Streams of another network inside of TLS. Both ends of a Stream behave as they do there, but
// - a connection that ends without a word (close_notify) is broken: it may have been truncated. So
//   close() alone looks to the peer like a failure; call finish_writing() and flush() first.
// - writes of a turn are sealed together, at its end.
class TlsNetwork final : public Network {
 public:
  struct Options {
    // The name that a server's certificate must be for, when it differs from the name or address
    // that is connected to: for a cluster whose nodes call one another by address.
    std::string server_name = {};
    // A handshake is three messages: a peer that takes longer is gone, or blocks places for others.
    std::chrono::milliseconds handshake_time_max = std::chrono::seconds(5);
    // The bound of one listener: handshakes under way, plus streams that wait for accept(). Each
    // holds the buffers of a session. One more peer takes the place of the oldest handshake, so
    // that peers that stop in the middle of one block no others; when none is under way the new
    // peer waits in the backlog.
    std::size_t handshake_count_max = 1024;
  };

  // Totals over all listeners and connects.
  struct Statistics {
    std::uint64_t opened_count = 0;  // Handshakes that succeeded,
    std::uint64_t failed_count = 0;  // and those that did not.
    std::string last_failure = {};   // With the peer's address.
  };

  TlsNetwork(Network& inner, TlsContext& context) : TlsNetwork(inner, context, Options{}) {}
  // Both outlive the network; the network outlives its streams and listeners.
  TlsNetwork(Network& inner, TlsContext& context, Options options);

  // The listener's accept() returns streams in the order in which their handshakes complete: a slow
  // peer delays no other. Fails with failed_precondition when the context has no certificate.
  // Destroying the listener suspends until a task of its own has ended.
  Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint,
                                           ListenOptions options = {}) override;

  // Both suspend until the handshake is done. Additional failures: unauthenticated when our CAs
  // have not signed the peer's certificate for that name, or when the peer refuses ours;
  // unavailable when it does not speak TLS. A peer that requires a certificate of ours may report
  // so only later: then reading fails with unauthenticated.
  Result<std::unique_ptr<Stream>> connect(const Endpoint& endpoint, Deadline deadline,
                                          StreamOptions options = {}) override;
  Result<std::unique_ptr<Stream>> connect_by_name(const std::string& name, const Endpoint& endpoint,
                                                  Deadline deadline,
                                                  StreamOptions options) override;

  // Passed through unchanged: datagrams have no TLS.
  Result<std::unique_ptr<UdpSocket>> bind_udp(const Endpoint& endpoint,
                                              UdpOptions options = {}) override;
  Result<std::vector<Endpoint>> resolve(const HostPort& host, Deadline deadline) override;

  const Statistics& statistics() const;

 private:
  Network& inner_;
  TlsContext& context_;
  const Options options_;
  std::shared_ptr<detail::TlsShared> shared_;
};

}  // namespace corolane::net
