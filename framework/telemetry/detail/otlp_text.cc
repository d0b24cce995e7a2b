// SPDX-License-Identifier: MIT
#include "framework/telemetry/detail/otlp_text.h"

#include "coroutine/base/encoding.h"
#include "coroutine/base/text.h"

namespace corolane::framework::detail::otlp {

void append_text(std::string& out, std::string_view text) {
  if (!is_utf8(text)) return append_text(out, to_utf8(text));
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (static_cast<unsigned char>(c) < 0x20) {
      append_hex(out.append("\\u00"), static_cast<std::uint8_t>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

void append_text_attribute(std::string& out, std::string_view key, std::string_view text) {
  out.append(R"({"key":)");
  append_text(out, key);
  out.append(R"(,"value":{"stringValue":)");
  append_text(out, text);
  out.append("}}");
}

}  // namespace corolane::framework::detail::otlp
