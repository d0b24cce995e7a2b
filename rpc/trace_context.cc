#include "rpc/trace_context.h"

#include <algorithm>
#include <span>

#include "coroutine/base/check.h"

namespace corolane::rpc {
namespace {

// version "-" trace-id "-" parent-id "-" trace-flags.
constexpr std::size_t version_begin = 0;
constexpr std::size_t trace_id_begin = 3;
constexpr std::size_t span_id_begin = 36;
constexpr std::size_t flags_begin = 53;
constexpr std::size_t length_of_version_00 = 55;

constexpr std::uint8_t version_00 = 0;
constexpr std::uint8_t version_forbidden = 0xff;
constexpr std::uint8_t sampled_flag = 1;

constexpr std::string_view digits = "0123456789abcdef";

// Reads bytes from pairs of lower-case digits; false for any other character.
bool read_hex(std::string_view text, std::span<std::uint8_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t high = digits.find(text[2 * i]);
    const std::size_t low = digits.find(text[2 * i + 1]);
    if (high == digits.npos || low == digits.npos) return false;
    out[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return true;
}

void append_hex(std::string& text, std::uint8_t byte) {
  text.push_back(digits[byte >> 4]);
  text.push_back(digits[byte & 15]);
}

bool has_its_dashes(std::string_view text) {
  return text[trace_id_begin - 1] == '-' && text[span_id_begin - 1] == '-' &&
         text[flags_begin - 1] == '-';
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  if (text.size() < length_of_version_00 || !has_its_dashes(text)) return std::nullopt;
  std::array<std::uint8_t, 1> version;
  std::array<std::uint8_t, 16> trace_id;
  std::array<std::uint8_t, 8> span_id;
  std::array<std::uint8_t, 1> flags;
  if (!read_hex(text.substr(version_begin), version) ||
      !read_hex(text.substr(trace_id_begin), trace_id) ||
      !read_hex(text.substr(span_id_begin), span_id) ||
      !read_hex(text.substr(flags_begin), flags) || version[0] == version_forbidden) {
    return std::nullopt;
  }
  if (text.size() > length_of_version_00) {
    // Later versions may only append fields.
    if (version[0] == version_00 || text[length_of_version_00] != '-') return std::nullopt;
  }
  TraceContext trace{.is_sampled = (flags[0] & sampled_flag) != 0};
  std::ranges::transform(trace_id, trace.trace_id.begin(),
                         [](std::uint8_t byte) { return std::byte{byte}; });
  for (const std::uint8_t byte : span_id) trace.span_id = trace.span_id << 8 | byte;
  const bool has_trace_id = std::ranges::any_of(trace_id, [](auto byte) { return byte != 0; });
  if (!has_trace_id || !trace.is_valid()) return std::nullopt;
  return trace;
}

std::string format_traceparent(const TraceContext& trace) {
  check(trace.is_valid(), "there is a trace");
  return "00-" + trace_id_text(trace) + "-" + span_id_text(trace.span_id) +
         (trace.is_sampled ? "-01" : "-00");
}

std::string trace_id_text(const TraceContext& trace) {
  std::string text;
  text.reserve(2 * trace.trace_id.size());
  for (const std::byte byte : trace.trace_id) append_hex(text, static_cast<std::uint8_t>(byte));
  return text;
}

std::string span_id_text(std::uint64_t span_id) {
  std::string text;
  text.reserve(16);
  for (int shift = 56; shift >= 0; shift -= 8) {
    append_hex(text, static_cast<std::uint8_t>(span_id >> shift));
  }
  return text;
}

}  // namespace corolane::rpc
