// SPDX-License-Identifier: MIT
// The parts of JSON that all of OTLP is made of.
//
//   std::string out = R"({"name":)";
//   append_text(out, name);
//   out.append(R"(,"timeUnixNano":)");
//   append_int64(out, time.count());
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace corolane::framework {
struct OtlpResource;
}

namespace corolane::framework::detail::otlp {

// A string. A collector would refuse the whole request for text that is not UTF-8, so wrong bytes
// are replaced.
void append_text(std::string& out, std::string_view text);

template <typename T>
void append_number(std::string& out, T value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end.ptr);
}

// Numbers of 64 bits are strings.
template <typename T>
void append_int64(std::string& out, T value) {
  out.push_back('"');
  append_number(out, value);
  out.push_back('"');
}

// The numbers that JSON does not know are strings, too.
inline void append_double(std::string& out, double value) {
  if (std::isnan(value)) {
    out.append(R"("NaN")");
  } else if (std::isinf(value)) {
    out.append(value > 0 ? R"("Infinity")" : R"("-Infinity")");
  } else {
    append_number(out, value);
  }
}

// `{"key":KEY,"value":{"stringValue":TEXT}}`.
void append_text_attribute(std::string& out, std::string_view key, std::string_view text);

// `"resource":{"attributes":[...]}`.
void append_resource(std::string& out, const OtlpResource& resource);

// A comma, unless it would be the first thing in an object or a list.
inline void append_comma(std::string& out) {
  if (!out.ends_with('[') && !out.ends_with('{')) out.push_back(',');
}

}  // namespace corolane::framework::detail::otlp
