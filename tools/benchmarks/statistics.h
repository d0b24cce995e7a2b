// Medians: what stands for a series of measurements on a machine that is never quite idle.
#pragma once

#include <vector>

namespace corolane::bench {

// The middle one, or the mean of the two in the middle. `values` is not empty.
double median_of(std::vector<double> values);

// The median absolute deviation from the median: how far a typical value lies off.
double mad_of(const std::vector<double>& values);

}  // namespace corolane::bench
