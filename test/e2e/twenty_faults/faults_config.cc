// SPDX-License-Identifier: MIT
// The keys of the section `faults`.
#include "test/e2e/twenty_faults/faults_config.h"

#include "config/section.h"

namespace faults {

using namespace std::chrono_literals;

void describe(corolane::config::Section& section, FaultsConfig& value) {
  section.field("nap", value.nap, "How long a thing sleeps with its thread.",
                corolane::config::between(100ms, 1min));
}

}  // namespace faults
