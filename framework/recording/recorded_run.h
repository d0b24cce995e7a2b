// Runs a node that is recorded or replayed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "framework/node/detail/stop_signal.h"
#include "framework/node/node.h"
#include "framework/node/node_config.h"
#include "framework/recording/recording_file.h"
#include "net/network.h"

namespace corolane::framework::recording {

// The resources that a node needs from its process.
struct Surroundings {
  net::Network& network;
  const Node::Parts& parts;
  // Suspends until a signal asks the node to stop.
  std::function<Result<detail::StopSignal::Arrival>()> wait_for_signal;
  // Acts like such a signal. Does nothing in a replay, where the signal comes from the recording.
  std::function<void()> ask_to_stop = [] {};
  bool is_real = false;  // False when the node is recorded or replayed.
};

// Runs in a task of a scheduler created for it. Returns the exit status.
using Life = std::function<int(const Surroundings& surroundings)>;

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
