// What a TlsContext has read from its files, as OpenSSL wants it; never changed once it is made.
#pragma once

#include <memory>
#include <string>

#include "coroutine/base/result.h"
#include "net/tls/detail/openssl.h"
#include "net/tls/tls.h"

namespace corolane::net::detail {

struct TlsSettings {
  OpensslPointer<SSL_CTX> context;
  bool has_certificate = false;
  bool asks_for_certificate = false;    // Of clients,
  bool needs_peer_certificate = false;  // who have to show one.
  std::string protocols = {};           // As RFC 7301 has them on the wire.
};

// Fails as TlsContext::load().
Result<std::shared_ptr<const TlsSettings>> load_tls_settings(const TlsOptions& options);

}  // namespace corolane::net::detail
