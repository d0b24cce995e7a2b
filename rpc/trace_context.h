// The place of a call in a trace, as it goes from process to process.
//
// What W3C Trace Context says in the headers traceparent and tracestate
// (https://www.w3.org/TR/trace-context/), in binary form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace corolane::rpc {

struct TraceContext {
  std::array<std::byte, 16> trace_id{};
  std::uint64_t span_id = 0;  // Of the span that is open now: the parent of what comes.
  bool is_sampled = false;    // Somebody records the spans of this trace.

  // There is a trace at all.
  bool is_valid() const { return span_id != 0; }
  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

}  // namespace corolane::rpc
