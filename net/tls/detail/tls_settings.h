// SPDX-License-Identifier: MIT
// The contents of a TlsContext's files in OpenSSL's form; immutable once made.
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
  bool asks_for_certificate = false;    // Asks clients for a certificate,
  bool needs_peer_certificate = false;  // and refuses those without one.
};

// Fails as TlsContext::load() does.
Result<std::shared_ptr<const TlsSettings>> load_tls_settings(const TlsOptions& options);

}  // namespace corolane::net::detail
