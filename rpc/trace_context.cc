// SPDX-License-Identifier: MIT
#include "rpc/trace_context.h"

#include <algorithm>
#include <span>

#include "coroutine/base/check.h"
#include "coroutine/base/encoding.h"

namespace corolane::rpc {
namespace {

// version "-" trace-id "-" parent-id "-" trace-flags.
constexpr std::size_t version_begin = 0;
constexpr std::size_t trace_id_begin = 3;
constexpr std::size_t span_id_begin = 36;
constexpr std::size_t flags_begin = 53;
constexpr std::size_t length_of_version_00 = 55;

constexpr std::byte version_00{0};
constexpr std::byte version_forbidden{0xff};
constexpr std::byte sampled_flag{1};

bool has_its_dashes(std::string_view text) {
  return text[trace_id_begin - 1] == '-' && text[span_id_begin - 1] == '-' &&
         text[flags_begin - 1] == '-';
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  if (text.size() < length_of_version_00 || !has_its_dashes(text)) return std::nullopt;
  TraceContext trace;
  std::array<std::byte, 1> version;
  std::array<std::byte, 8> span_id;
  std::array<std::byte, 1> flags;
  if (!read_hex(text.substr(version_begin), version) ||
      !read_hex(text.substr(trace_id_begin), trace.trace_id) ||
      !read_hex(text.substr(span_id_begin), span_id) ||
      !read_hex(text.substr(flags_begin), flags) || version[0] == version_forbidden) {
    return std::nullopt;
  }
  if (text.size() > length_of_version_00) {
    // Later versions may only append fields.
    if (version[0] == version_00 || text[length_of_version_00] != '-') return std::nullopt;
  }
  trace.is_sampled = (flags[0] & sampled_flag) != std::byte{0};
  for (const std::byte byte : span_id) {
    trace.span_id = trace.span_id << 8 | std::to_integer<std::uint8_t>(byte);
  }
  const bool has_trace_id =
      std::ranges::any_of(trace.trace_id, [](std::byte byte) { return byte != std::byte{0}; });
  if (!has_trace_id || !trace.is_valid()) return std::nullopt;
  return trace;
}

std::string format_traceparent(const TraceContext& trace) {
  check(trace.is_valid(), "there is a trace");
  return "00-" + trace_id_text(trace) + "-" + span_id_text(trace.span_id) +
         (trace.is_sampled ? "-01" : "-00");
}

std::string trace_id_text(const TraceContext& trace) { return to_hex(trace.trace_id); }

std::string span_id_text(std::uint64_t span_id) {
  std::string text;
  text.reserve(16);
  for (int shift = 56; shift >= 0; shift -= 8) {
    append_hex(text, static_cast<std::uint8_t>(span_id >> shift));
  }
  return text;
}

}  // namespace corolane::rpc
