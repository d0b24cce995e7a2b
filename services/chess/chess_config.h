// SPDX-License-Identifier: MIT
// The settings of the chess service: the section `chess` of the configuration.
#pragma once

#include <chrono>
#include <cstddef>

#include "coroutine/base/clock.h"

namespace corolane::config {
class Section;
}

namespace corolane::services::chess {

struct ChessConfig {
  static constexpr const char* section = "chess";

  Duration clock = std::chrono::minutes(10);
  Duration seat_time_max = std::chrono::minutes(5);
  Duration finished_kept = std::chrono::minutes(1);
};

void describe(config::Section& section, ChessConfig& value);

}  // namespace corolane::services::chess
