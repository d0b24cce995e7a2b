// SPDX-License-Identifier: MIT
// The settings of the wilds: the section `wilds` of the configuration.
#pragma once

#include <chrono>
#include <cstddef>

#include "coroutine/base/clock.h"

namespace corolane::config {
class Section;
}

namespace corolane::services::wilds {

struct WildsConfig {
  static constexpr const char* section = "wilds";

  std::size_t monsters = 10'000;
  Duration pause = std::chrono::seconds(2);
};

void describe(config::Section& section, WildsConfig& value);

}  // namespace corolane::services::wilds
