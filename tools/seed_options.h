// SPDX-License-Identifier: MIT
// The options of tools/simulate and `corolane simulate`: rules for the command line, and their
// help.
#pragma once

#include <array>

#include "tools/arguments.h"

namespace corolane::tools {

inline constexpr std::array seed_option_rules = {
    OptionRule{.name = "--seeds", .has_value = true},
    OptionRule{.name = "--seconds", .has_value = true},
    OptionRule{.name = "--nodes", .has_value = true},
    OptionRule{.name = "--clients", .has_value = true},
    OptionRule{.name = "--faults", .has_value = true},
    OptionRule{.name = "--jobs", .has_value = true},
    OptionRule{.name = "--trace", .has_value = true},
    OptionRule{.name = "--in-order"},
    OptionRule{.name = "--keep-going"},
};

}  // namespace corolane::tools
