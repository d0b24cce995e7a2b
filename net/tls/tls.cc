// SPDX-License-Identifier: MIT
#include "net/tls/tls.h"

#include <utility>

#include "coroutine/sync/event.h"
#include "net/detail/handshake_listener.h"
#include "net/tls/detail/tls_settings.h"
#include "net/tls/detail/tls_shared.h"
#include "net/tls/detail/tls_stream.h"

namespace corolane::net {
namespace {

// How long a failed connect waits for the reason to reach the peer.
constexpr auto say_why_time_max = std::chrono::milliseconds(100);

// A client that waits for its handshake.
class Connecting final : public detail::HandshakingStream::Host {
 public:
  // Suspends.
  Result<void> wait(Deadline deadline) { return ended_.wait(deadline); }
  bool has_failed() const { return has_failed_; }

 private:
  void opened(detail::HandshakingStream& /*stream*/) override { ended_.set(); }
  void failed(detail::HandshakingStream& /*stream*/) override {
    has_failed_ = true;
    ended_.set();
  }
  void ended(detail::HandshakingStream& /*stream*/) override {}

  coroutine::Event ended_{"TLS handshake"};
  bool has_failed_ = false;
};

}  // namespace

TlsContext::TlsContext(TlsOptions options, std::shared_ptr<const detail::TlsSettings> settings)
    : options_(std::move(options)), settings_(std::move(settings)) {}

Result<std::unique_ptr<TlsContext>> TlsContext::load(TlsOptions options) {
  auto settings = detail::load_tls_settings(options);
  if (!settings) return std::move(settings.error());
  return std::unique_ptr<TlsContext>(new TlsContext(std::move(options), *std::move(settings)));
}

Result<void> TlsContext::reload() {
  auto change = prepare_reload();
  if (!change) return std::move(change.error());
  (*change)();
  return {};
}

Result<std::function<void()>> TlsContext::prepare_reload() {
  auto settings = detail::load_tls_settings(options_);
  if (!settings) return std::move(settings.error());
  return [this, settings = *std::move(settings)] { settings_ = settings; };
}

TlsNetwork::TlsNetwork(Network& inner, TlsContext& context, Options options)
    : inner_(inner),
      context_(context),
      options_(std::move(options)),
      shared_(std::make_shared<detail::TlsShared>()) {}

Result<std::unique_ptr<Listener>> TlsNetwork::listen(const Endpoint& endpoint,
                                                     ListenOptions options) {
  if (!context_.settings_->has_certificate) {
    return Error(Code::failed_precondition, "listen on " + to_string(endpoint) +
                                                ": a TLS server needs a certificate and its key");
  }
  auto inner = inner_.listen(endpoint, options);
  if (!inner) return inner;
  auto wrap = [this, shared = shared_, stream_options = options.stream](auto stream) {
    return std::make_unique<detail::TlsStream>(std::move(stream), context_.settings_,
                                               detail::TlsSession::Role::server, shared,
                                               stream_options);
  };
  const detail::HandshakeListener::Rules rules{.handshake_time_max = options_.handshake_time_max,
                                               .handshake_count_max = options_.handshake_count_max};
  auto listener = std::make_unique<detail::HandshakeListener>(*std::move(inner), std::move(wrap),
                                                              "TLS accept", rules);
  if (auto started = listener->start(); !started) return started.error();
  return listener;
}

Result<std::unique_ptr<Stream>> TlsNetwork::connect(const Endpoint& endpoint, Deadline deadline,
                                                    StreamOptions options) {
  // A Unix socket has no name for a certificate.
  return connect_by_name(is_unix(endpoint) ? "" : endpoint.address, endpoint, deadline, options);
}

Result<std::unique_ptr<Stream>> TlsNetwork::connect_by_name(const std::string& name,
                                                            const Endpoint& endpoint,
                                                            Deadline deadline,
                                                            StreamOptions options) {
  auto inner = inner_.connect_by_name(name, endpoint, deadline, options);
  if (!inner) return inner;
  auto stream = std::make_unique<detail::TlsStream>(
      *std::move(inner), context_.settings_, detail::TlsSession::Role::client, shared_, options);
  const bool has_own_name = options_.server_name.empty() && !is_unix(endpoint);
  if (auto expected = stream->expect(has_own_name ? name : options_.server_name); !expected) {
    return expected.error();
  }
  Connecting connecting;
  stream->shake_hands(connecting, Deadline::after(options_.handshake_time_max));
  if (auto waited = connecting.wait(deadline); !waited) {
    stream->close();
    return std::move(waited.error()).with_context("TLS with " + to_string(endpoint));
  }
  if (!connecting.has_failed()) return stream;
  stream->say_why(earlier(deadline, Deadline::after(say_why_time_max)));
  Error failure = stream->failure();
  stream->close();
  return failure;
}

Result<std::unique_ptr<UdpSocket>> TlsNetwork::bind_udp(const Endpoint& endpoint,
                                                        UdpOptions options) {
  return inner_.bind_udp(endpoint, options);
}

Result<std::vector<Endpoint>> TlsNetwork::resolve(const HostPort& host, Deadline deadline) {
  return inner_.resolve(host, deadline);
}

const TlsNetwork::Statistics& TlsNetwork::statistics() const { return shared_->statistics; }

}  // namespace corolane::net
