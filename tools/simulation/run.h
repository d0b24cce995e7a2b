// SPDX-License-Identifier: MIT
// One simulated run of the market under faults.
#pragma once

#include "framework/testing/run_plan.h"

namespace corolane::sim {

// Opens the market, lets faults strike, closes the market and calls every object.
Scenario market_scenario();

}  // namespace corolane::sim
