// How long the pages of a node take while it is overloaded.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// Milliseconds of the slowest of these pages while so many times the calls come that the server
// can answer; each is read again and again. `admin` says, by the id of the process that has
// started it, on which Unix socket it has them. Fails when one is not answered with 200.
Measure slowest_page_under_overload(Serve serve, std::string (*admin)(int parent_process),
                                    std::vector<std::string> targets, double factor);

}  // namespace corolane::bench
