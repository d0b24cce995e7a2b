// SPDX-License-Identifier: MIT
// Medians, which represent a series of measurements on a machine that is never quite idle.
#pragma once

#include <vector>

namespace corolane::bench {

// Returns the middle value, or the mean of the two in the middle. `values` must not be empty.
double median_of(std::vector<double> values);

// Returns the median absolute deviation from the median.
double mad_of(const std::vector<double>& values);

}  // namespace corolane::bench
