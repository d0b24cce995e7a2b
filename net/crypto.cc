// SPDX-License-Identifier: MIT
#include "net/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "coroutine/base/check.h"
#include "coroutine/base/clock.h"

namespace corolane::net {
namespace {

struct MacDeleter {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Digest hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts) {
  const std::unique_ptr<EVP_MAC, MacDeleter> mac(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  check(mac != nullptr, "OpenSSL has HMAC");
  const std::unique_ptr<EVP_MAC_CTX, MacDeleter> context(EVP_MAC_CTX_new(mac.get()));
  char digest_name[] = "SHA256";
  const std::array parameters = {OSSL_PARAM_construct_utf8_string("digest", digest_name, 0),
                                 OSSL_PARAM_construct_end()};
  bool done =
      context && EVP_MAC_init(context.get(), bytes(key), key.size(), parameters.data()) == 1;
  for (const std::string_view part : parts) {
    done = done && EVP_MAC_update(context.get(), bytes(part), part.size()) == 1;
  }
  Digest digest;
  std::size_t size = 0;
  done = done && EVP_MAC_final(context.get(), reinterpret_cast<unsigned char*>(digest.data()),
                               &size, digest.size()) == 1;
  check(done && size == digest.size(), "OpenSSL computes an HMAC-SHA-256");
  return digest;
}

std::array<std::byte, 20> sha1(std::string_view text) {
  std::array<std::byte, 20> digest;
  const int done =
      EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr,
                 EVP_sha1(), nullptr);
  check(done == 1, "OpenSSL computes a SHA-1");
  return digest;
}

bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void fill_with_random_bytes(std::span<std::byte> bytes) {
  const auto* const source = corolane::detail::thread_time_source();
  if (source != nullptr && source->draw(bytes)) return;
  const int filled =
      RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  check(filled == 1, "the system has random numbers");
}

std::string random_text(std::size_t size) {
  std::string text(size, '\0');
  fill_with_random_bytes(std::as_writable_bytes(std::span(text)));
  return text;
}

std::uint64_t seed_or_random(std::uint64_t seed) {
  if (seed != 0) return seed;
  std::array<std::byte, sizeof(std::uint64_t)> bytes;
  fill_with_random_bytes(bytes);
  return std::bit_cast<std::uint64_t>(bytes);
}

}  // namespace corolane::net
