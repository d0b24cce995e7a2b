// SPDX-License-Identifier: MIT
#include "services/wilds/wilds_config.h"

#include "config/section.h"

namespace corolane::services::wilds {

using namespace std::chrono_literals;

void describe(config::Section& section, WildsConfig& value) {
  section.field("monsters", value.monsters, "The number of monsters of each shard.",
                config::between(1, 10'000'000));
  section.field("pause", value.pause, "How long a monster rests between two steps, on average.",
                config::between(10ms, 1h));
}

}  // namespace corolane::services::wilds
