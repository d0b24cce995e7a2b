// The few pieces of cryptography that protocols above the stream need; OpenSSL computes them.
//
// No more than this is offered on purpose: connections are kept secret by TLS (tls.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace corolane::net {

using Digest = std::array<std::byte, 32>;

// HMAC-SHA-256 (RFC 2104, FIPS 180-4) of the parts, one after the other: they are not told apart,
// so that must follow from what they hold.
Digest hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts);

// SHA-1 (FIPS 180-4), which keeps no secret any more: for protocols that have it in their rules.
std::array<std::byte, 20> sha1(std::string_view text);

// RFC 4648, section 4, with padding.
std::string to_base64(std::span<const std::byte> bytes);
// What to_base64() has made of it; nothing when it is no such text.
std::optional<std::string> from_base64(std::string_view text);

// In a time that says nothing about where they differ.
bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b);

// Bytes that nobody can guess, from the system; in a simulation from its seed.
void fill_with_random_bytes(std::span<std::byte> bytes);
// So many of them.
std::string random_text(std::size_t size);
// The seed, or one that nobody can guess when it is 0.
std::uint64_t seed_or_random(std::uint64_t seed);

}  // namespace corolane::net
