// SPDX-License-Identifier: MIT
// OpenSSL's objects as owned values, and its errors as text.
#pragma once

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace corolane::net::detail {

struct OpensslDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};

template <typename T>
using OpensslPointer = std::unique_ptr<T, OpensslDeleter>;

// The reason for the last failure of OpenSSL, in its words; clears it. `fallback` when it gave
// none.
std::string take_openssl_error(const std::string& fallback);

}  // namespace corolane::net::detail
