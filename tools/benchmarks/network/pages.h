// SPDX-License-Identifier: MIT
// The response time of a node's pages while it is overloaded.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// Measures the milliseconds of the slowest of these pages, each read again and again, while the
// server receives `factor` times the calls that it can answer. `admin` returns the Unix socket of
// the pages, given the id of the server's parent process. Fails when a page is not answered with
// 200.
Measure slowest_page_under_overload(Serve serve, std::string (*admin)(int parent_process),
                                    std::vector<std::string> targets, double factor);

}  // namespace corolane::bench
