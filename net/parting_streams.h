// Streams whose owners are done with them, while their peers take what was written last.
//
// Whoever is done with a stream would have to wait until that is sent, or lose it: a stream that is
// destroyed drops what is queued. So it is left to its network, for a while.
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
  // Each costs a socket, and the memory of what it has not sent yet. More are closed at once.
  static constexpr std::size_t count_max = 1024;

  PartingStreams();
  ~PartingStreams();
  PartingStreams(const PartingStreams&) = delete;
  PartingStreams& operator=(const PartingStreams&) = delete;

  // Sends what is queued, then `last`, and tells the peer that no more will come. What the peer
  // still sends is dropped. Closes the stream when the peer has ended as well, at the latest after
  // `time_max`. Never suspends; not to be called from the stream's sink.
  void take(std::unique_ptr<Stream> stream, std::vector<std::byte> last, Duration time_max);

  // Drops what they have not sent.
  void close_all();
  std::size_t count() const { return all_.size(); }

 private:
  class Parting;

  std::list<std::unique_ptr<Parting>> all_;
};

}  // namespace corolane::net
