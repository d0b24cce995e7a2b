// SPDX-License-Identifier: MIT
// Text for a descriptor, composed without allocation and written without stdio: safe in a handler
// of a fatal signal (signal-safety(7)).
//
//   ReportText text(STDERR_FILENO);
//   text.add("killed by signal ").add(signal).add(" at ").add_code_address(address).add("\n");
//   text.flush();
//
// The buffer is written out when it is full, and at flush(). There is no destructor, so that
// FaultGuard may abandon it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "coroutine/base/clock.h"

namespace corolane::coroutine {

class ReportText {
 public:
  explicit ReportText(int descriptor) : descriptor_(descriptor) {}

  ReportText& add(std::string_view part);
  ReportText& add(std::uint64_t number, int base = 10);
  // "0x7f3a".
  ReportText& add_hex(std::uint64_t number) { return add("0x").add(number, 16); }
  // "1.250 s".
  ReportText& add_seconds(Duration time);
  // In quotes. A name may hold any bytes: everything but printable ASCII becomes '?'.
  ReportText& add_name(std::string_view name);
  // "program+0x1f3a", or "libc.so.6+0x2a40": the same in each run of a build.
  ReportText& add_code_address(std::uintptr_t address);
  // "2026-11-23T01:18:00.250Z".
  ReportText& add_time(std::chrono::system_clock::time_point time);

  // Text that cannot be written is lost: a crash handler has no better choice.
  void flush();
  // The text that is not yet written out.
  std::string_view view() const { return {text_.data(), size_}; }

 private:
  const int descriptor_;
  std::array<char, 1024> text_;
  std::size_t size_ = 0;
};

}  // namespace corolane::coroutine
