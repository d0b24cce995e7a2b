// SPDX-License-Identifier: MIT
// Closing streams: their owners are done with them, but their peers have not taken all output yet.
//
//   if (auto* parting = stream->parting_streams()) parting->take(std::move(stream), goodbye, 10s);
//
// The owner of a stream would have to wait until its output is sent, or lose it: a stream that is
// destroyed drops its queue. So the owner hands it to its network, for a limited time.
//
// Belongs to one scheduler's thread. The streams are closed when that scheduler's main task ends.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "coroutine/base/clock.h"
#include "net/stream.h"

namespace corolane::net {

class PartingStreams {
 public:
  // Each costs a socket, and the memory of its unsent output. Above this count streams are closed
  // at once.
  static constexpr std::size_t count_max = 1024;

  PartingStreams();
  ~PartingStreams();
  PartingStreams(const PartingStreams&) = delete;
  PartingStreams& operator=(const PartingStreams&) = delete;

  // Sends what is queued, then `last`, and tells the peer that no more will come. Further input
  // from the peer is dropped. Closes the stream when the peer has ended as well, at the latest
  // after `time_max`. Never suspends; must not be called from the stream's sink.
  void take(std::unique_ptr<Stream> stream, std::vector<std::byte> last, Duration time_max);

  // Drops their unsent output.
  void close_all();
  std::size_t count() const { return all_.size(); }

 private:
  class Parting;

  std::list<std::unique_ptr<Parting>> all_;
};

}  // namespace corolane::net
