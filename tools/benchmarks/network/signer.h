// SPDX-License-Identifier: MIT
// A login service for clients: signs their tokens with EdDSA.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/talk.h"

namespace corolane::bench {

class Signer {
 public:
  // A new key.
  static Result<Signer> make();
  Signer(Signer&& other) noexcept;
  ~Signer();

  std::string public_key_pem() const;
  // A JSON Web Token (RFC 8037) for that subject, of the issuer "bench" for the audience "bench",
  // which is valid for an hour.
  Result<std::string> token(std::string_view subject) const;

  // Returns nanoseconds of CPU time for the verification of the signature of such a token alone:
  // the public key is at hand, and nothing is decoded.
  Result<Measurement> time_verification() const;

 private:
  struct Key;
  explicit Signer(std::unique_ptr<Key> key);

  std::unique_ptr<Key> key_;
};

// Sessions that log in with tokens of the signer, which outlives them, each of another subject.
MakeTalk token_talk(const Signer& signer);
// Sessions that log in without a token.
MakeTalk anonymous_talk();

}  // namespace corolane::bench
