// SPDX-License-Identifier: MIT
#include "net/verifying_key.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <sodium/core.h>
#include <sodium/crypto_sign.h>

#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "net/crypto.h"

namespace corolane::net {
namespace {

template <auto free>
struct Free {
  void operator()(auto* object) const { free(object); }
};
using PublicKey = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using Number = std::unique_ptr<BIGNUM, Free<BN_free>>;
using ParameterBuilder = std::unique_ptr<OSSL_PARAM_BLD, Free<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Free<OSSL_PARAM_free>>;
using Source = std::unique_ptr<BIO, Free<BIO_free>>;
using EcdsaSignature = std::unique_ptr<ECDSA_SIG, Free<ECDSA_SIG_free>>;

constexpr std::size_t p256_bytes = 32;
constexpr std::size_t ed25519_bytes = crypto_sign_PUBLICKEYBYTES;
// Larger keys only waste time, also an attacker's victim's.
constexpr std::size_t rsa_bits_max = 16'384;

// OpenSSL keeps a queue of errors for each thread, which other code would find.
class CleanErrors {
 public:
  CleanErrors() { ERR_set_mark(); }
  ~CleanErrors() { ERR_pop_to_mark(); }
  CleanErrors(const CleanErrors&) = delete;
  CleanErrors& operator=(const CleanErrors&) = delete;
};

Error invalid(std::string message) { return Error(Code::invalid_argument, std::move(message)); }

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Number number_of(std::string_view big_endian) {
  return Number(
      BN_bin2bn(unsigned_bytes(big_endian), static_cast<int>(big_endian.size()), nullptr));
}

PublicKey make_key(const char* type, const OSSL_PARAM* parameters) {
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  // The parameters are only read, although the function takes no const.
  if (!context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY,
                        const_cast<OSSL_PARAM*>(parameters)) != 1) {
    return nullptr;
  }
  return PublicKey(key);
}

// Whether the key is one that its algorithm allows: a point on the curve, for example.
bool is_sound(EVP_PKEY* key) {
  const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  return context && EVP_PKEY_public_check(context.get()) == 1;
}

// The encoding that OpenSSL expects: a sequence of two integers (RFC 3279, 2.2.3). Empty for a
// signature of another size.
std::vector<unsigned char> der_of(std::string_view signature) {
  if (signature.size() != 2 * p256_bytes) return {};
  const EcdsaSignature pair(ECDSA_SIG_new());
  Number r = number_of(signature.substr(0, p256_bytes));
  Number s = number_of(signature.substr(p256_bytes));
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return {};
  static_cast<void>(r.release());  // The pair owns both now.
  static_cast<void>(s.release());
  std::vector<unsigned char> der(static_cast<std::size_t>(i2d_ECDSA_SIG(pair.get(), nullptr)));
  unsigned char* end = der.data();
  i2d_ECDSA_SIG(pair.get(), &end);
  return der;
}

// libsodium takes half of the time of OpenSSL 3.0. It refuses keys of a small order, and a second
// encoding of a signature (RFC 8032, 5.1.7).
bool verify_ed25519(const std::array<unsigned char, ed25519_bytes>& key, std::string_view text,
                    std::span<const unsigned char> signature) {
  return signature.size() == crypto_sign_BYTES &&
         crypto_sign_verify_detached(signature.data(), unsigned_bytes(text), text.size(),
                                     key.data()) == 0;
}

// OpenSSL looks the functions of an algorithm up by their names, which takes a sixth of the time
// when the caches are cold: a key does it once, and each verification has a copy.
bool verify(const EVP_MD_CTX* prepared, std::string_view text,
            std::span<const unsigned char> signature) {
  const DigestContext context(EVP_MD_CTX_new());
  return context && EVP_MD_CTX_copy_ex(context.get(), prepared) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(), unsigned_bytes(text),
                          text.size()) == 1;
}

}  // namespace

struct VerifyingKey::Key {
  explicit Key(std::string its_secret) : secret(std::move(its_secret)) {}
  explicit Key(PublicKey its_public_key) : public_key(std::move(its_public_key)) {}
  ~Key() { OPENSSL_cleanse(secret.data(), secret.size()); }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  // Fails when the library does.
  bool prepare(Algorithm algorithm) {
    if (algorithm == Algorithm::eddsa) {
      std::size_t size = ed25519.size();
      return sodium_init() >= 0 &&
             EVP_PKEY_get_raw_public_key(public_key.get(), ed25519.data(), &size) == 1;
    }
    prepared.reset(EVP_MD_CTX_new());
    return prepared && EVP_DigestVerifyInit(prepared.get(), nullptr, EVP_sha256(), nullptr,
                                            public_key.get()) == 1;
  }

  std::string secret;
  PublicKey public_key;
  DigestContext prepared;                              // For a verification by OpenSSL,
  std::array<unsigned char, ed25519_bytes> ed25519{};  // and by libsodium.
};

Result<VerifyingKey> VerifyingKey::from_secret(std::string secret) {
  if (secret.size() < secret_bytes_min) {
    return invalid("a secret of " + std::to_string(secret.size()) + " bytes is too short: take " +
                   std::to_string(secret_bytes_min) + " or more, from a random source");
  }
  return VerifyingKey(Algorithm::hs256, std::make_shared<Key>(std::move(secret)));
}

Result<VerifyingKey> VerifyingKey::from_rsa(std::string_view modulus, std::string_view exponent) {
  const CleanErrors clean;
  if (modulus.size() > rsa_bits_max / 8 || exponent.size() > rsa_bits_max / 8) {
    return invalid("an RSA key has at most " + std::to_string(rsa_bits_max) + " bits");
  }
  const ParameterBuilder builder(OSSL_PARAM_BLD_new());
  const Number n = number_of(modulus);
  const Number e = number_of(exponent);
  if (!builder || !n || !e ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return invalid("not an RSA key");
  }
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  return from_key(std::make_shared<Key>(make_key("RSA", parameters.get())));
}

Result<VerifyingKey> VerifyingKey::from_p256(std::string_view x, std::string_view y) {
  const CleanErrors clean;
  if (x.size() != p256_bytes || y.size() != p256_bytes) {
    return invalid("a coordinate of a key on P-256 has 32 bytes");
  }
  // An uncompressed point (SEC 1, 2.3.3).
  std::string point = "\x04";
  point.append(x).append(y);
  char group[] = "P-256";
  const std::array parameters = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()),
      OSSL_PARAM_construct_end()};
  return from_key(std::make_shared<Key>(make_key("EC", parameters.data())));
}

Result<VerifyingKey> VerifyingKey::from_ed25519(std::string_view key) {
  const CleanErrors clean;
  if (key.size() != ed25519_bytes) return invalid("a key of Ed25519 has 32 bytes");
  return from_key(std::make_shared<Key>(PublicKey(EVP_PKEY_new_raw_public_key_ex(
      nullptr, "ED25519", nullptr, unsigned_bytes(key), key.size()))));
}

Result<VerifyingKey> VerifyingKey::from_pem(std::string_view pem) {
  const CleanErrors clean;
  if (pem.size() > std::numeric_limits<int>::max()) return invalid("not a public key in PEM");
  const Source source(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  PublicKey key(source ? PEM_read_bio_PUBKEY(source.get(), nullptr, nullptr, nullptr) : nullptr);
  if (!key) return invalid("not a public key in PEM");
  return from_key(std::make_shared<Key>(std::move(key)));
}

Result<VerifyingKey> VerifyingKey::from_key(std::shared_ptr<Key> key) {
  EVP_PKEY* const public_key = key->public_key.get();
  if (public_key == nullptr || !is_sound(public_key)) return invalid("not a public key");
  const auto made = [&](Algorithm algorithm) -> Result<VerifyingKey> {
    if (!key->prepare(algorithm)) return invalid("nothing is verified with this public key");
    return VerifyingKey(algorithm, std::move(key));
  };
  if (EVP_PKEY_is_a(public_key, "ED25519") == 1) return made(Algorithm::eddsa);
  if (EVP_PKEY_is_a(public_key, "RSA") == 1) {
    const auto bits = static_cast<std::size_t>(EVP_PKEY_get_bits(public_key));
    if (bits >= rsa_bits_min && bits <= rsa_bits_max) {
      return made(Algorithm::rs256);
    }
    return invalid("an RSA key of " + std::to_string(bits) + " bits: take one of " +
                   std::to_string(rsa_bits_min) + " to " + std::to_string(rsa_bits_max));
  }
  std::array<char, 64> group{};
  if (EVP_PKEY_is_a(public_key, "EC") == 1 &&
      EVP_PKEY_get_group_name(public_key, group.data(), group.size(), nullptr) == 1 &&
      std::string_view(group.data()) == "prime256v1") {
    return made(Algorithm::es256);
  }
  return invalid("a public key of another kind than RSA, P-256 and Ed25519");
}

bool VerifyingKey::has_signed(std::string_view text, std::string_view signature) const {
  const CleanErrors clean;
  const EVP_MD_CTX* const prepared = key_->prepared.get();
  const std::span as_given(unsigned_bytes(signature), signature.size());
  switch (algorithm_) {
    case Algorithm::hs256:
      return equal_in_constant_time(hmac_sha256(key_->secret, {text}),
                                    std::as_bytes(std::span(signature)));
    case Algorithm::rs256:
      return verify(prepared, text, as_given);
    case Algorithm::es256: {
      const auto der = der_of(signature);
      return !der.empty() && verify(prepared, text, der);
    }
    case Algorithm::eddsa:
      return verify_ed25519(key_->ed25519, text, as_given);
  }
  return false;
}

}  // namespace corolane::net
