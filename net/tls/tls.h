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
// Versions 1.3 and 1.2 (RFC 8446, RFC 5246). OpenSSL keeps the records; it is fed on the loop's
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
  // Of a server: a peer without a certificate is refused. Otherwise it is nameless.
  bool needs_peer_certificate = false;
  // What may be spoken inside, by ALPN, the preferred one first: {"h2", "http/1.1"}. The server's
  // preference decides; a peer that names others only is refused.
  std::vector<std::string> application_protocols = {};
};

// Keys, certificates and CAs, for any number of networks. A context outlives its networks.
class TlsContext {
 public:
  // Reads the files. Fails with not_found or permission_denied for one that cannot be read, and
  // with invalid_argument when one holds no PEM, when the key is not the certificate's, or when
  // that is not valid today. The message names the file.
  static Result<std::unique_ptr<TlsContext>> load(TlsOptions options);

  // Reads the files again: connections that begin from now on use what they hold. All of it or
  // nothing: fails as load() does, and everything stays as it was. Connections that exist keep
  // what they began with.
  Result<void> reload();

  // The same in two steps, for several contexts that change together or not at all: reads and
  // checks the files, and returns what makes the change. Fails as load(). The context outlives it.
  Result<std::function<void()>> prepare_reload();

  const TlsOptions& options() const { return options_; }

 private:
  friend class TlsNetwork;
  TlsContext(TlsOptions options, std::shared_ptr<const detail::TlsSettings> settings);

  const TlsOptions options_;
  std::shared_ptr<const detail::TlsSettings> settings_;
};

// Streams of another network inside of TLS. Both ends of a Stream behave as they do there, but
// - a connection that ends without a word (close_notify) is a broken one: it may have been cut. So
//   close() alone looks to the peer like a failure; finish_writing() and flush() come before.
// - writes of a turn are sealed together, at its end.
class TlsNetwork final : public Network {
 public:
  struct Options {
    // What a server's certificate has to be for, when it is not the name or address that is
    // connected to: of a cluster whose nodes call one another by address.
    std::string server_name = {};
    // A handshake is three messages: who takes longer is not there, or keeps places from others.
    std::chrono::milliseconds handshake_time_max = std::chrono::seconds(5);
    // Of one listener: handshakes under way, and streams that wait for accept(). Each holds the
    // buffers of a session. One more peer has the place of the oldest handshake, so that those who
    // begin one and fall silent keep nobody out; when none is under way it waits in the backlog.
    std::size_t handshake_count_max = 1024;
  };

  // Of all listeners and connects.
  struct Statistics {
    std::uint64_t opened_count = 0;  // Handshakes that went well,
    std::uint64_t failed_count = 0;  // and those that did not.
    std::string last_failure = {};   // With the peer's address.
  };

  TlsNetwork(Network& inner, TlsContext& context) : TlsNetwork(inner, context, Options{}) {}
  // Both outlive the network, and the network its streams and listeners.
  TlsNetwork(Network& inner, TlsContext& context, Options options);

  // The listener's accept() returns streams whose handshake is done, in the order in which they
  // are: a slow peer holds up nobody. Fails with failed_precondition when the context has no
  // certificate. Destroying the listener suspends until a task of its own has ended.
  Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint,
                                           ListenOptions options = {}) override;

  // These two suspend until the handshake is done. Fail besides with unauthenticated when the
  // peer's certificate is not one that our CAs signed for that name, or it refuses ours; with
  // unavailable when it speaks no TLS. A peer that misses a certificate of ours may say so only
  // later: reading fails with unauthenticated then.
  Result<std::unique_ptr<Stream>> connect(const Endpoint& endpoint, Deadline deadline,
                                          StreamOptions options = {}) override;
  Result<std::unique_ptr<Stream>> connect_by_name(const std::string& name, const Endpoint& endpoint,
                                                  Deadline deadline,
                                                  StreamOptions options) override;

  // As they are: no TLS for datagrams.
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
