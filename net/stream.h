// SPDX-License-Identifier: MIT
// A reliable, ordered flow of bytes in both directions: a connection over TCP or a Unix socket.
//
//   if (auto written = stream->write_all(bytes_of("hello\n"), deadline); !written) {
//     return written.error();
//   }
//   std::array<std::byte, 1024> buffer;
//   auto size = stream->read_some(buffer, deadline);
//   if (!size) return size.error();
//
// Reading is linear or push. Linear: read_some() suspends the calling task until bytes are there.
// Push: a ReadSink is called on the loop's stack as bytes arrive, so that an idle connection costs
// no coroutine. A stream has one reader: read_some() is not called while a sink is set.
//
// Written bytes go into the stream's output buffer; all buffers are sent once per turn of the loop,
// so that many small messages cost one system call. Above the high-water mark linear writers
// suspend and push writers are refused; a peer that stays above it is closed.
//
// All of it belongs to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/byte_budget.h"
#include "net/endpoint.h"

namespace corolane::net {

class PartingStreams;

struct StreamOptions {
  // Unsent output above which writers wait or are refused: about what a link of 100 Mbit/s carries
  // in 20 ms. For a TCP connection the kernel holds as much again that is not on its way yet.
  std::size_t output_bytes_max = 256 * 1024;
  // A peer that acknowledges nothing for this time while output is above the mark is closed, at the
  // latest after half as long again. Bytes in the kernel count only when the peer has them.
  std::chrono::milliseconds output_stall_max = std::chrono::seconds(10);
  // While more output than this is unsent a sink is given nothing, so that a client that reads no
  // replies cannot pile up requests either. Only one end of a connection may set it: two that do
  // would wait for each other until they stall. No limit by default.
  std::size_t output_while_reading_max = std::numeric_limits<std::size_t>::max();
  // Counts the buffers of the stream, and what its reader holds. Outlives the stream; null: nothing
  // is counted. While it is tight a sink is given nothing until all output is sent, and a stream
  // that holds too much is closed like a broken one.
  ByteBudget* budget = nullptr;

  // A TCP peer that vanished without a word (power, cable, a router that forgot it) would stay for
  // ever. A peer that is silent for this time is probed: seldom enough to cost nothing, often
  // enough to keep routers from forgetting. Zero: never probed.
  std::chrono::seconds keepalive_idle = std::chrono::seconds(30);
  // The interval between further probes.
  std::chrono::seconds keepalive_interval = std::chrono::seconds(10);
  // After this many unanswered probes the connection is broken: within a minute in all. Output that
  // stays unacknowledged for that minute breaks it, too; the kernel alone would wait for 15.
  int keepalive_count = 3;
};

// Counters of a connection for operators.
struct StreamStatistics {
  std::uint64_t received_bytes = 0;
  std::uint64_t written_bytes = 0;  // Including those that wait to be sent.
  std::size_t unsent_bytes = 0;     // Written, but not taken by the kernel.
  // Written, and known to have reached the peer; inside of TLS counted on the wire.
  std::uint64_t acknowledged_bytes = 0;
  std::size_t output_bytes_max = 0;
  TimePoint opened_at{};
  TimePoint heard_at{};  // When the last bytes came, by the clock of the loop's turn.
  // Since when the sink has received all input; the largest while input waits, because the sink
  // paused or because the peer has to take output first.
  TimePoint reading_since{};
  bool is_encrypted = false;
};

// Tells whether the peer takes output: that is a sign of life while our ping waits behind long
// output and cannot be answered yet.
class OutputProgress {
 public:
  // True when the peer has taken more since the last call than pings alone: its kernel takes pings
  // even when its process hangs.
  bool has_grown(const StreamStatistics& statistics) {
    const std::uint64_t before = std::exchange(acknowledged_bytes_, statistics.acknowledged_bytes);
    return statistics.acknowledged_bytes > before + ping_bytes_max;
  }

 private:
  static constexpr std::uint64_t ping_bytes_max = 256;

  std::uint64_t acknowledged_bytes_ = 0;
};

// Receives what a stream reads, on the loop's stack: must not suspend. The sink may only close this
// stream, which ends the calls; any other stream it may destroy as well.
class ReadSink {
 public:
  // The bytes are valid during the call only.
  virtual void on_bytes(std::span<const std::byte> bytes) = 0;
  // Called once, last: the peer has finished sending (`unavailable`, "closed by peer"), the
  // connection broke, or the stall limit closed it. Not called after close().
  virtual void on_end(const Error& reason) = 0;

 protected:
  ~ReadSink() = default;
};

class Stream {
 public:
  // Closes it. No task may be inside one of its calls, nor woken from one and not yet run.
  virtual ~Stream() = default;

  // Linear reading: suspends until at least one byte has arrived and returns how many were put into
  // `buffer`; 0 when the peer has finished sending. Fails with unavailable when the connection
  // broke or was closed here, with deadline_exceeded or cancelled; nothing is lost then. Bytes that
  // arrived before a connection broke are read first.
  virtual Result<std::size_t> read_some(std::span<std::byte> buffer, Deadline deadline) = 0;

  // Push reading, from now on. Bytes that arrived before are delivered by the next turn, never
  // inside this call. The sink outlives the stream or its close(); another one replaces it.
  virtual void set_read_sink(ReadSink& sink) = 0;

  // Ends push reading so that another reader can go on: the sink is not called any more, and the
  // next reader, a task or a sink, is first given `unread`, which are bytes that the sink was given
  // and does not want. A pause ends, too. May be called from the sink. Does nothing without a sink.
  // Never suspends.
  virtual void release_read_sink(std::span<const std::byte> unread) = 0;

  // Stops giving input to the sink: it waits in the kernel, and then at the peer. Only a broken
  // connection is reported meanwhile. Not for linear reading, which stops by itself. May be called
  // from the sink. Never suspends.
  virtual void pause_reading() = 0;
  // The sink receives the rest, beginning with the next turn, never inside this call.
  virtual void resume_reading() = 0;

  // Linear writing: appends all of `bytes` to the output, then suspends while it is above the
  // high-water mark. Success does not mean that the peer has received them. Fails with unavailable
  // when the connection is gone; with deadline_exceeded or cancelled the bytes stay queued.
  virtual Result<void> write_all(std::span<const std::byte> bytes, Deadline deadline) = 0;

  // Push writing: never suspends. Appends all of `bytes`, or nothing and fails with
  // resource_exhausted above the high-water mark, with unavailable when the connection is gone.
  virtual Result<void> try_write(std::span<const std::byte> bytes) = 0;

  // The same above the mark as well, for a few bytes that the peer needs: a goodbye, or a word
  // without which it sends no more. The default is try_write().
  virtual Result<void> append(std::span<const std::byte> bytes);

  // Returns room for `size` bytes that the caller fills in place, and then passes whole to
  // write_all(), try_write() or append() before it does anything else with this thread's streams.
  // Saves a copy when the room lies in the output itself.
  virtual std::span<std::byte> room_to_write(std::size_t size);

  // Suspends until all output is handed to the kernel, which may still find the peer gone: only a
  // reply proves that the peer has received it. Fails with unavailable when the connection is gone,
  // with deadline_exceeded or cancelled.
  virtual Result<void> flush(Deadline deadline) = 0;

  // Sends what is queued, then tells the peer that no more will come; reading still works. Writing
  // more fails with failed_precondition. Never suspends.
  virtual void finish_writing() = 0;

  // Drops what is queued and closes both directions. Waiting calls end with unavailable, the sink
  // is not called again. Never suspends; may be called from the sink.
  virtual void close() = 0;

  // True after close() and once the connection broke; false while one direction still works.
  virtual bool is_closed() const = 0;
  virtual const Endpoint& peer_endpoint() const = 0;
  virtual const Endpoint& local_endpoint() const = 0;

  // The counters so far. Inside of TLS they count bytes on the wire. The default returns zeros.
  virtual StreamStatistics statistics() const { return {}; }

  // The account of the connection, in which its reader counts what it holds: half a message, a
  // request that waits. Null without a budget. Lives as long as the stream.
  virtual ByteBudget::Account* account() { return nullptr; }

  // The network's keeper of streams that still have to send; null if it has none.
  virtual PartingStreams* parting_streams() { return nullptr; }

  // The peer's identity by the certificate that TLS has verified; empty without one.
  virtual std::string_view peer_identity() const { return {}; }
};

// Bytes of a text, for writing, and the text that bytes are.
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace corolane::net
