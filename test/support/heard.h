// What comes out of a stream, with when and in which pieces.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "net/stream.h"

namespace corolane::test {

// What a stream had to say until its end, or until nothing came for an hour.
struct Heard {
  std::string text;
  std::vector<std::size_t> sizes;  // Of the pieces,
  std::vector<TimePoint> times;    // and when they came.
  Result<void> end;                // Fails as the last read did.
};

// Suspends.
inline Heard listen_to(net::Stream& stream) {
  Heard heard;
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const auto count = stream.read_some(buffer, Deadline::after(std::chrono::hours(1)));
    if (!count) heard.end = count.error();
    if (!count || *count == 0) return heard;
    heard.text.append(reinterpret_cast<const char*>(buffer.data()), *count);
    heard.sizes.push_back(*count);
    heard.times.push_back(now());
  }
}

}  // namespace corolane::test
