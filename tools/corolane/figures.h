// SPDX-License-Identifier: MIT
// Short figures for people: three digits and a unit, "1.23M", "24.0 MiB", "8.90 ms".
#pragma once

#include <string>

namespace corolane::tools::cli {

std::string count_text(double count);
std::string bytes_text(double bytes);
// A time in nanoseconds.
std::string time_text(double ns);
// A duration in its two largest units: "3d 02h", "1m 05s"; below a minute in seconds: "1.2s".
std::string age_text(double seconds);
// A share from 0 to 1, as a percentage.
std::string percent_text(double share);

}  // namespace corolane::tools::cli
