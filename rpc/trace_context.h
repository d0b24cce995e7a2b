// SPDX-License-Identifier: MIT
// The place of a call in a trace, as it is passed between processes.
//
//   const auto trace = rpc::parse_traceparent(request.header("traceparent"));
//   if (trace && trace->is_sampled) log.info("traced", {{"trace", rpc::trace_id_text(*trace)}});
//
// The content of W3C Trace Context's header traceparent (https://www.w3.org/TR/trace-context/), in
// binary form and in the text form of that header.
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
  std::uint64_t span_id = 0;             // The open span: the parent of later ones.
  bool is_sampled = false;               // The spans of this trace are recorded.

  // True when there is a trace.
  bool is_valid() const { return span_id != 0; }
  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": the value of a traceparent header.
// Nothing when it is malformed or an id in it is all zero; then a new trace begins here. From a
// future version it reads the fields that are known, as the specification requires.
std::optional<TraceContext> parse_traceparent(std::string_view text);

// The header's text, in version 00. `trace` must be valid.
std::string format_traceparent(const TraceContext& trace);

// The ids as 32 and 16 lower-case hexadecimal digits, as people search for them.
std::string trace_id_text(const TraceContext& trace);
std::string span_id_text(std::uint64_t span_id);

}  // namespace corolane::rpc
