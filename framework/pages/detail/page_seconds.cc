// SPDX-License-Identifier: MIT
#include "framework/pages/detail/page_seconds.h"

#include <charconv>
#include <chrono>
#include <string>

#include "coroutine/base/text.h"
#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

Result<Duration> page_seconds(const net::HttpRequest& request, Duration standard, Duration max) {
  const std::string text(request.query("seconds"));
  if (text.empty()) return standard;
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
  if (read.ec == std::errc() && read.ptr == end && seconds > 0 && seconds <= in_seconds(max)) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  }
  return Error(Code::invalid_argument, "seconds=" + escaped(text) +
                                           " is not valid; it must be above 0 and at most " +
                                           seconds_text(max) + ", as in ?seconds=0.5");
}

}  // namespace corolane::framework::detail
