// SPDX-License-Identifier: MIT
// How important a line of the log is.
//
//   log.set_level(LogLevel::debug);
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "config/choice.h"

namespace corolane::framework {

enum class LogLevel : std::uint8_t { debug, info, warning, error };

constexpr auto choices(LogLevel) {
  return std::to_array<config::Choice<LogLevel>>({{"debug", LogLevel::debug},
                                                  {"info", LogLevel::info},
                                                  {"warning", LogLevel::warning},
                                                  {"error", LogLevel::error}});
}

std::string_view to_string(LogLevel level);

}  // namespace corolane::framework
