// SPDX-License-Identifier: MIT
#include "net/one_port/first_bytes.h"

#include <algorithm>
#include <array>

#include "net/stream.h"

namespace corolane::net {
namespace {

using namespace std::string_view_literals;

// The longest methods that are registered have 17 letters (UPDATEREDIRECTREF).
constexpr std::size_t method_bytes_max = 20;
// No registered method is shorter.
constexpr std::size_t method_bytes_min = 3;

// RFC 9113, 6.5 and 6.8, and the code for a peer that should come back with HTTP/1.1.
constexpr char frame_settings = 4;
constexpr char frame_goaway = 7;
constexpr char http_1_1_required = 0x0d;

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-'; }

Match match_prefix(std::string_view text, std::string_view prefix) {
  if (text.starts_with(prefix)) return Match::yes;
  return prefix.starts_with(text) ? Match::maybe : Match::no;
}

std::string http2_frame(char type, std::string_view payload) {
  // Length in 24 bits, type, no flags, stream 0.
  const std::array<char, 9> header = {0, 0, static_cast<char>(payload.size()), type, 0, 0, 0, 0, 0};
  return std::string(header.data(), header.size()).append(payload);
}

bool is_same_word(std::string_view text, std::string_view small_letters) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(text, small_letters, {}, small);
}

// Whether the value of a header names that protocol among others, "h2c, websocket".
bool names_websocket(std::string_view value) {
  constexpr std::string_view protocol = "websocket";
  for (std::size_t at = 0; at + protocol.size() <= value.size(); ++at) {
    if (is_same_word(value.substr(at, protocol.size()), protocol)) return true;
  }
  return false;
}

}  // namespace

Match match_tls(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes);
  const Match match = match_prefix(text.substr(0, 2), "\x16\x03");
  if (match != Match::yes) return match;
  if (text.size() < 3) return Match::maybe;
  return text[2] >= 1 && text[2] <= 4 ? Match::yes : Match::no;
}

Match match_http(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes).substr(0, method_bytes_max + 1);
  const auto end = std::ranges::find_if_not(text, is_letter);
  const auto length = static_cast<std::size_t>(end - text.begin());
  if (end == text.end()) return length <= method_bytes_max ? Match::maybe : Match::no;
  return length >= method_bytes_min && *end == ' ' ? Match::yes : Match::no;
}

Match match_websocket(std::span<const std::byte> bytes) {
  constexpr std::string_view header = "upgrade:";
  const std::string_view text = text_of(bytes);
  const Match is_get = match_prefix(text, "GET ");
  if (is_get != Match::yes) return is_get;
  const std::size_t end = text.find("\r\n\r\n");
  if (end > websocket_head_bytes_max && text.size() > websocket_head_bytes_max) return Match::no;
  if (end == std::string_view::npos) return Match::maybe;
  const std::string_view head = text.substr(0, end);
  for (std::size_t line = head.find("\r\n"); line != std::string_view::npos;) {
    const std::size_t begin = line + 2;
    line = head.find("\r\n", begin);
    const std::string_view field = head.substr(begin, line - begin);
    const bool is_upgrade = is_same_word(field.substr(0, header.size()), header);
    if (is_upgrade && names_websocket(field.substr(header.size()))) return Match::yes;
  }
  return Match::no;
}

Match match_http2(std::span<const std::byte> bytes) { return match_prefix(text_of(bytes), "PRI "); }

std::string refusal_by_tls() { return std::string("\x15\x03\x01\x00\x02\x02\x28"sv); }

std::string refusal_by_http(std::string_view reason) {
  std::string answer =
      "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
      "Connection: close\r\nContent-Length: ";
  answer.append(std::to_string(reason.size() + 1)).append("\r\n\r\n").append(reason).append("\n");
  return answer;
}

std::string refusal_by_http2(std::string_view reason) {
  // The last stream that was served, none, and the code.
  std::string payload("\0\0\0\0\0\0\0"sv);
  payload.push_back(http_1_1_required);
  payload.append(reason.substr(0, 100));
  return http2_frame(frame_settings, "").append(http2_frame(frame_goaway, payload));
}

}  // namespace corolane::net
