// The place of a call in a trace, as it goes from process to process.
//
// What W3C Trace Context says in the header traceparent (https://www.w3.org/TR/trace-context/), in
// binary form, and in the text form of that header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corolane::rpc {

struct TraceContext {
  std::array<std::byte, 16> trace_id{};  // Not all zero when there is a trace.
  std::uint64_t span_id = 0;             // Of the span that is open now: the parent of what comes.
  bool is_sampled = false;               // Somebody records the spans of this trace.

  // There is a trace at all.
  bool is_valid() const { return span_id != 0; }
  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": the value of a traceparent header.
// Nothing when it is malformed, or an id in it is all zero; then a trace begins here. Of a version
// to come it reads what the known ones say, as the specification asks for.
std::optional<TraceContext> parse_traceparent(std::string_view text);

// The same back, in version 00. `trace` is valid.
std::string format_traceparent(const TraceContext& trace);

// The ids as 32 and 16 lower-case hexadecimal digits, as people look for them.
std::string trace_id_text(const TraceContext& trace);
std::string span_id_text(std::uint64_t span_id);

}  // namespace corolane::rpc
