// The life of a node that is recorded, and of one that is replayed.
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

// What a node's life needs of its process.
struct Surroundings {
  net::Network& network;
  const Node::Parts& parts;
  // Suspends until a signal asks the node to stop.
  std::function<Result<detail::StopSignal::Arrival>()> wait_for_signal;
  // Does as such a signal would; nothing in a replay, where that comes as it has come.
  std::function<void()> ask_to_stop = [] {};
  bool is_real = false;  // Not one that is recorded or replayed, whose time and outside are a feed.
};

// In a task, of a scheduler that is made for it. Returns the exit status.
using Life = std::function<int(const Surroundings& surroundings)>;

// Records the node of `config` to config.record.file until it ends: it lives on a thread of its
// own, all that is real is on the calling one. Fails as RecordingWriter::create(), and then nobody
// has lived.
Result<int> run_recorded(const NodeConfig& config, Header header, Log& log, const Life& life);

// Lets that life be lived again, without clocks, network or store, as fast as it goes, and prints
// how it went. Returns 0 when the node has done what it did until the recording ends, 1 when it did
// something else. What is asked and what comes is written to `trace_path`, unless it is empty.
Result<int> run_replayed(const NodeConfig& config, std::unique_ptr<RecordingReader> file,
                         const std::string& trace_path, Log& log, const Life& life);

}  // namespace corolane::framework::recording
