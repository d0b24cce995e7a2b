// SPDX-License-Identifier: MIT
// The settings of the broken game: the section `faults` of the configuration.
#pragma once

#include <chrono>

#include "coroutine/base/clock.h"

namespace corolane::config {
class Section;
}

namespace faults {

struct FaultsConfig {
  static constexpr const char* section = "faults";

  corolane::Duration nap = std::chrono::milliseconds(1500);
};

void describe(corolane::config::Section& section, FaultsConfig& value);

}  // namespace faults
