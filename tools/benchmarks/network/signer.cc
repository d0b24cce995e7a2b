// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/signer.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <array>
#include <chrono>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/encoding.h"
#include "net/verifying_key.h"
#include "tools/benchmarks/network/session_talk.h"

namespace corolane::bench {
namespace {

constexpr std::size_t signature_bytes = 64;
using Signature = std::array<unsigned char, signature_bytes>;

template <auto free>
struct Free {
  void operator()(auto* object) const { free(object); }
};
using DigestContext = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using Text = std::unique_ptr<BIO, Free<BIO_free>>;

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// What is signed (RFC 7515, 5.1).
std::string signed_part(std::string_view subject) {
  const auto expires = std::chrono::floor<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch() + std::chrono::hours(1));
  std::string part = to_base64(std::string_view(R"({"alg":"EdDSA","typ":"JWT"})"), Base64::url);
  part += '.';
  append_base64(part,
                R"({"iss":"bench","aud":"bench","sub":")" + std::string(subject) + R"(","exp":)" +
                    std::to_string(expires.count()) + R"(,"roles":["player"]})",
                Base64::url);
  return part;
}

}  // namespace

struct Signer::Key {
  std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>> pair;

  Result<Signature> sign(std::string_view text) const {
    Signature signature;
    std::size_t size = signature.size();
    const DigestContext context(EVP_MD_CTX_new());
    if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pair.get()) != 1 ||
        EVP_DigestSign(context.get(), signature.data(), &size, unsigned_bytes(text), text.size()) !=
            1) {
      return Error(Code::internal, "OpenSSL signs nothing");
    }
    return signature;
  }
};

Signer::Signer(std::unique_ptr<Key> key) : key_(std::move(key)) {}
Signer::Signer(Signer&& other) noexcept = default;
Signer::~Signer() = default;

Result<Signer> Signer::make() {
  auto key = std::make_unique<Key>();
  key->pair.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (key->pair == nullptr) return Error(Code::unavailable, "OpenSSL makes no ED25519 key");
  return Signer(std::move(key));
}

std::string Signer::public_key_pem() const {
  const Text text(BIO_new(BIO_s_mem()));
  PEM_write_bio_PUBKEY(text.get(), key_->pair.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

Result<std::string> Signer::token(std::string_view subject) const {
  std::string token = signed_part(subject);
  const auto signature = key_->sign(token);
  if (!signature) return signature.error();
  token += '.';
  token += to_base64(std::as_bytes(std::span(*signature)), Base64::url);
  return token;
}

Result<Measurement> Signer::time_verification() const {
  const std::string text = signed_part("client.1");
  const auto made = key_->sign(text);
  if (!made) return made.error();
  const std::string signature(reinterpret_cast<const char*>(made->data()), made->size());
  const auto key = net::VerifyingKey::from_pem(public_key_pem());
  if (!key) return key.error();
  return time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    watch.start();
    for (std::size_t index = 0; index < op_count; ++index) {
      if (!key->has_signed(text, signature)) return Error(Code::internal, "a wrong signature");
    }
    watch.stop();
    return op_count;
  });
}

MakeTalk token_talk(const Signer& signer) {
  return [&signer](std::uint16_t) -> Result<std::unique_ptr<Talk>> {
    return std::make_unique<SessionTalk>(
        SessionTalk::Options{.token = [&signer, count = std::size_t{0}](std::size_t) mutable {
          const auto token = signer.token("client." + std::to_string(++count));
          check(token.has_value(), "a key that has signed signs again");
          return *token;
        }});
  };
}

MakeTalk anonymous_talk() {
  return [](std::uint16_t) -> Result<std::unique_ptr<Talk>> {
    return std::make_unique<SessionTalk>(
        SessionTalk::Options{.token = [](std::size_t) { return std::string(); }});
  };
}

}  // namespace corolane::bench
