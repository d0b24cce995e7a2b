// SPDX-License-Identifier: MIT
#include "coroutine/base/encoding.h"

#include <array>

namespace corolane {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::uint8_t no_letter = 0xff;

constexpr std::array<std::uint8_t, 256> values = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_letter);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    table[static_cast<unsigned char>(letters[i])] = static_cast<std::uint8_t>(i);
    table[static_cast<unsigned char>(url_letters[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

std::uint32_t byte_at(std::string_view bytes, std::size_t index) {
  return static_cast<unsigned char>(bytes[index]);
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void append_hex(std::string& text, std::uint8_t byte) {
  text.append({hex_digits[byte >> 4], hex_digits[byte & 15]});
}

std::string to_hex(std::span<const std::byte> bytes) { return to_hex(text_of(bytes)); }

std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) append_hex(text, static_cast<std::uint8_t>(byte));
  return text;
}

bool read_hex(std::string_view text, std::span<std::byte> bytes) {
  if (text.size() < 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t high = hex_digits.find(text[2 * i]);
    const std::size_t low = hex_digits.find(text[2 * i + 1]);
    if (high == hex_digits.npos || low == hex_digits.npos) return false;
    bytes[i] = static_cast<std::byte>(high << 4 | low);
  }
  return true;
}

void append_base64(std::string& text, std::string_view bytes, Base64 form) {
  const std::string_view alphabet = form == Base64::url ? url_letters : letters;
  const std::size_t begin = text.size();
  const std::size_t size = form == Base64::standard ? (bytes.size() + 2) / 3 * 4  //
                                                    : (bytes.size() * 4 + 2) / 3;
  text.resize(begin + size, '=');
  char* out = text.data() + begin;
  const auto put = [&](std::uint32_t bits) { *out++ = alphabet[bits & 63]; };
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t three =
        byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2);
    put(three >> 18);
    put(three >> 12);
    put(three >> 6);
    put(three);
  }
  if (i == bytes.size()) return;
  const bool has_two = i + 2 == bytes.size();
  const std::uint32_t rest = byte_at(bytes, i) << 16 | (has_two ? byte_at(bytes, i + 1) << 8 : 0);
  put(rest >> 18);
  put(rest >> 12);
  if (has_two) put(rest >> 6);
}

std::string to_base64(std::string_view bytes, Base64 form) {
  std::string text;
  append_base64(text, bytes, form);
  return text;
}

std::string to_base64(std::span<const std::byte> bytes, Base64 form) {
  return to_base64(text_of(bytes), form);
}

std::optional<std::string> from_base64(std::string_view text, Base64 form) {
  std::string bytes;
  if (!read_any_base64(text, bytes) || to_base64(bytes, form) != text) return std::nullopt;
  return bytes;
}

bool read_any_base64(std::string_view text, std::string& bytes) {
  if (text.size() % 4 == 0 && text.ends_with('=')) text.remove_suffix(text.ends_with("==") ? 2 : 1);
  if (text.size() % 4 == 1) return false;
  bytes.resize(text.size() * 3 / 4);
  char* out = bytes.data();
  std::uint32_t seen = 0;  // Collects the bit that only no_letter has.
  const auto value = [&](std::size_t index) {
    const std::uint32_t bits = values[static_cast<unsigned char>(text[index])];
    seen |= bits;
    return bits;
  };
  std::size_t i = 0;
  for (; i + 4 <= text.size(); i += 4) {
    const std::uint32_t bits =
        value(i) << 18 | value(i + 1) << 12 | value(i + 2) << 6 | value(i + 3);
    *out++ = static_cast<char>(bits >> 16);
    *out++ = static_cast<char>(bits >> 8);
    *out++ = static_cast<char>(bits);
  }
  if (i < text.size()) {
    const bool has_three = i + 3 == text.size();
    const std::uint32_t bits =
        value(i) << 18 | value(i + 1) << 12 | (has_three ? value(i + 2) << 6 : 0);
    *out++ = static_cast<char>(bits >> 16);
    if (has_three) *out++ = static_cast<char>(bits >> 8);
  }
  return (seen & 0x80) == 0;
}

}  // namespace corolane
