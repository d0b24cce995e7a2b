// SPDX-License-Identifier: MIT
// Nodes under full observation, and a server without any.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// Serves as a node with its watchdog, filters, meters and samples. The node reads its own metrics,
// statistics, methods and tasks once a second. Its pages are on a Unix socket that is named after
// its parent process.
Error serve_observed_node(const Seat& seat);
std::string admin_of_observed_node(int parent_process);
// The same service without any observation.
Error serve_bare_rpc(const Seat& seat);

// Milliseconds of a request for /tasks?group=stack of a node with `task_count` suspended tasks in
// three kinds of wait; fails when the answer is wrong.
Result<Measurement> our_group_page(std::size_t task_count);
// The longest CPU time of the loop's thread, in milliseconds, between two turns of a task that
// yields all the time, while the page `target` of such a node is made.
Result<Measurement> our_longest_stop(std::size_t task_count, std::string_view target);

}  // namespace corolane::bench
