// SPDX-License-Identifier: MIT
// Verifies signatures: with the public half of a key pair, or with a secret that both sides share.
//
//   auto key = VerifyingKey::from_pem(pem);
//   if (!key) return std::move(key.error()).with_context(path);
//   if (!key->has_signed(text, signature)) return Error(Code::unauthenticated, "not signed by us");
//
// A key has one algorithm, and no text can make it use another. OpenSSL and libsodium compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::net {

class VerifyingKey {
 public:
  // RFC 7518 (3.1) and RFC 8037 (3.1) have these names.
  enum class Algorithm : std::uint8_t {
    hs256,  // HMAC with SHA-256, by a secret.
    rs256,  // RSASSA-PKCS1-v1_5 with SHA-256.
    es256,  // ECDSA on the curve P-256 with SHA-256; a signature is R and S, 32 bytes each.
    eddsa,  // Ed25519.
  };

  // Below these bounds a signature can be forged by computing.
  static constexpr std::size_t secret_bytes_min = 32;
  static constexpr std::size_t rsa_bits_min = 2048;

  // All of these fail with invalid_argument. Numbers are unsigned and big-endian.
  static Result<VerifyingKey> from_secret(std::string secret);
  static Result<VerifyingKey> from_rsa(std::string_view modulus, std::string_view exponent);
  static Result<VerifyingKey> from_p256(std::string_view x, std::string_view y);
  static Result<VerifyingKey> from_ed25519(std::string_view bytes);
  // A public key of one of the three kinds, "-----BEGIN PUBLIC KEY-----".
  static Result<VerifyingKey> from_pem(std::string_view pem);

  Algorithm algorithm() const { return algorithm_; }
  // Whether the owner of the key has made this signature of `text`. Does not suspend; takes about
  // 1 us for a secret, 30 us for RSA, 70 us for Ed25519, and 100 us for P-256.
  bool has_signed(std::string_view text, std::string_view signature) const;

 private:
  struct Key;

  VerifyingKey(Algorithm algorithm, std::shared_ptr<const Key> key)
      : algorithm_(algorithm), key_(std::move(key)) {}
  static Result<VerifyingKey> from_key(std::shared_ptr<Key> key);

  Algorithm algorithm_;
  std::shared_ptr<const Key> key_;  // OpenSSL's, or the secret.
};

}  // namespace corolane::net
