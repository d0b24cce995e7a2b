// SPDX-License-Identifier: MIT
// Texts for bytes: hexadecimal digits and base64.
//
//   const std::string text = to_hex("ab");  // "6162".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace corolane {

// Two lower-case digits for each byte.
void append_hex(std::string& text, std::uint8_t byte);
std::string to_hex(std::span<const std::byte> bytes);
std::string to_hex(std::string_view bytes);
// Fills `bytes` from pairs of lower-case digits at the beginning of `text`, which may be longer.
// Returns false for any other character, and for a text that is too short.
bool read_hex(std::string_view text, std::span<std::byte> bytes);

// RFC 4648: section 4, with padding, or without, as the headers of gRPC and Connect; or section 5,
// for file names and URLs, without.
enum class Base64 : std::uint8_t { standard, unpadded, url };

void append_base64(std::string& text, std::string_view bytes, Base64 form = Base64::standard);
std::string to_base64(std::string_view bytes, Base64 form = Base64::standard);
std::string to_base64(std::span<const std::byte> bytes, Base64 form = Base64::standard);

// The bytes from which to_base64() makes exactly `text`; nothing when there are none. So no two
// texts stand for the same bytes.
std::optional<std::string> from_base64(std::string_view text, Base64 form = Base64::standard);

// Reads either form, with padding or without, and mixed, as JSON for protobuf prescribes. Returns
// false when a character belongs to neither; `bytes` are indeterminate then.
bool read_any_base64(std::string_view text, std::string& bytes);

}  // namespace corolane
