// SPDX-License-Identifier: MIT
// The few cryptographic functions that protocols above the stream need; OpenSSL computes them.
//
//   std::array<std::byte, 16> nonce;
//   fill_with_random_bytes(nonce);
//   const Digest proof = hmac_sha256(key, {"hello", to_base64(nonce)});
//
// Nothing more is offered on purpose: TLS (tls.h) keeps connections secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace corolane::net {

using Digest = std::array<std::byte, 32>;

// HMAC-SHA-256 (RFC 2104, FIPS 180-4) of the concatenated parts. The boundaries between parts are
// not authenticated, so they must follow from the contents.
Digest hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts);

// SHA-1 (FIPS 180-4), which is no longer secure: only for protocols that prescribe it.
std::array<std::byte, 20> sha1(std::string_view text);

// Takes a time that does not depend on where they differ.
bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b);

// Unpredictable bytes, from the system; in a simulation they come from its seed.
void fill_with_random_bytes(std::span<std::byte> bytes);
// The same as a text of `size` bytes.
std::string random_text(std::size_t size);
// The seed, or an unpredictable one when it is 0.
std::uint64_t seed_or_random(std::uint64_t seed);

}  // namespace corolane::net
