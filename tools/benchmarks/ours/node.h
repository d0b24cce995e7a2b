// Nodes with all that an operator sees of them, and a server of which nobody sees anything.
#pragma once

#include <chrono>
#include <string>

#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// A node with its watchdog, filters, meters and samples, whose metrics, statistics, methods and
// tasks are read once a second, by itself. Its pages are on a Unix socket of the process that has
// started it.
Error serve_observed_node(const Seat& seat);
std::string admin_of_observed_node(int parent_process);
// The same service without anything of that.
Error serve_bare_rpc(const Seat& seat);

// Milliseconds from asking for /tasks?group=stack of a node with so many suspended tasks in three
// kinds of wait, to its answer; fails when that is wrong.
Result<Measurement> our_group_page(std::size_t task_count);
// The most CPU time of the loop's thread, in milliseconds, between two turns of a task that always
// yields meanwhile.
Result<Measurement> our_longest_stop(std::size_t task_count);

}  // namespace corolane::bench
