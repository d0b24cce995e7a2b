// SPDX-License-Identifier: MIT
// Runs a node that is recorded or replayed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "framework/node/node_config.h"
#include "framework/recording/detail/recording_file.h"
#include "framework/run/detail/node_life.h"

namespace corolane::framework::recording {

// Runs in a task of a scheduler created for it. Returns the exit status.
using Life = std::function<int(const framework::detail::Surroundings& surroundings)>;

// Records the node of `config` to config.record.file until it ends. The node runs on a thread of
// its own, the real network and store on the calling one. Fails as RecordingWriter::create(); then
// the node has not run.
Result<int> run_recorded(const NodeConfig& config, Header header, Log& log, const Life& life);

// Replays a recording without clocks, network or store, as fast as possible, and prints the result.
// Returns 0 when the node behaved as recorded until the end of the recording, 1 when it deviated.
// Requests and arrivals are written to `trace_path`, unless it is empty.
Result<int> run_replayed(const NodeConfig& config, std::unique_ptr<RecordingReader> file,
                         const std::string& trace_path, Log& log, const Life& life);

}  // namespace corolane::framework::recording
