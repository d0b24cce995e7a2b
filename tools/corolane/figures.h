// Figures as people read them at a glance: three digits and a unit, "1.23M", "24.0 MiB", "8.90 ms".
#pragma once

#include <string>

namespace corolane::tools::cli {

std::string count_text(double count);
std::string bytes_text(double bytes);
// Of nanoseconds.
std::string time_text(double ns);
// How long something has been there, with its two largest units: "3d 2h", "1m 05s".
std::string age_text(double seconds);
// Of a share, 0 to 1.
std::string percent_text(double share);

}  // namespace corolane::tools::cli
