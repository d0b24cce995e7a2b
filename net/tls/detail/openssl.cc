// SPDX-License-Identifier: MIT
#include "net/tls/detail/openssl.h"

#include <openssl/err.h>

namespace corolane::net::detail {

std::string take_openssl_error(const std::string& fallback) {
  // The first error is the cause, the others show where it passed through.
  const unsigned long first = ERR_get_error();
  ERR_clear_error();
  const char* const reason = first == 0 ? nullptr : ERR_reason_error_string(first);
  return reason == nullptr ? fallback : reason;
}

}  // namespace corolane::net::detail
