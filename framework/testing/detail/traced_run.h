// SPDX-License-Identifier: MIT
// A run whose events are written to files, and that is made twice.
#pragma once

#include <string>

#include "framework/testing/run_plan.h"

namespace corolane::sim {

// Writes the events of the run to `path` and, for Perfetto, to `path`.json, makes the run again,
// and prints the first event that differs. Returns whether nothing was violated, and both runs
// were the same.
bool run_traced(const Scenario& scenario, const RunPlan& plan, const std::string& path);

}  // namespace corolane::sim
