// SPDX-License-Identifier: MIT
// Makes a failing run smaller, so that its cause can be seen.
#pragma once

#include <functional>

#include "framework/testing/run_plan.h"

namespace corolane::sim {

// The smallest plan that still fails: fewer faults, fewer nodes and clients, less time.
// `still_fails` makes the run of a plan.
RunPlan shrink(const RunPlan& plan, const std::function<bool(const RunPlan& tried)>& still_fails);

}  // namespace corolane::sim
