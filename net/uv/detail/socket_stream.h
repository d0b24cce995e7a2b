// SPDX-License-Identifier: MIT
// A connection of libuv as a Stream: over TCP or a Unix socket, which differ in how they begin.
//
// libuv's part (its handle, requests and the bytes being sent) lives in a SocketHandle, which frees
// itself once libuv has released it. So a stream may be destroyed at any time, even, beyond the
// contract of ReadSink, by the sink that it is just calling: after such a call it touches none of
// its members.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "coroutine/sync/event.h"
#include "coroutine/timer_wheel.h"
#include "net/detail/byte_buffer.h"
#include "net/detail/call_count.h"
#include "net/detail/due.h"
#include "net/detail/read_half.h"
#include "net/stream.h"
#include "net/uv/event_loop.h"

namespace corolane::net::detail {

struct SocketAddress;
struct SocketHandle;

class SocketStream final : public Stream,
                           public Due,
                           private ByteBudget::Account::Owner,
                           private coroutine::Timer {
 public:
  enum class Transport : std::uint8_t { tcp, unix_socket };

  SocketStream(EventLoop::Impl& loop, Transport transport, const StreamOptions& options);
  ~SocketStream() override;
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  // One of these two opens it, before any other call; after a failure it can only be destroyed.
  // Suspends until connected, as Network::connect() does.
  Result<void> connect(const Endpoint& peer, Deadline deadline);
  // Takes over a connected socket, even on failure; the socket has inherited its options from the
  // listener.
  Result<void> adopt(int descriptor, Endpoint peer);

  Result<std::size_t> read_some(std::span<std::byte> buffer, Deadline deadline) override;
  void set_read_sink(ReadSink& sink) override;
  void release_read_sink(std::span<const std::byte> unread) override;
  void pause_reading() override;
  void resume_reading() override;
  Result<void> write_all(std::span<const std::byte> bytes, Deadline deadline) override;
  Result<void> try_write(std::span<const std::byte> bytes) override;
  Result<void> append(std::span<const std::byte> bytes) override;
  std::span<std::byte> room_to_write(std::size_t size) override;
  Result<void> flush(Deadline deadline) override;
  void finish_writing() override;
  void close() override;
  bool is_closed() const override { return failure_.has_value(); }
  const Endpoint& peer_endpoint() const override { return peer_; }
  const Endpoint& local_endpoint() const override { return local_; }
  StreamStatistics statistics() const override;
  ByteBudget::Account* account() override { return &account_; }
  PartingStreams* parting_streams() override;

  // Sends the output of the turn, and delivers waiting input to the sink. May destroy the stream.
  void end_turn() override;

 private:
  friend struct SocketHandle;

  // Opening and closing.
  Result<void> connect_tcp(const SocketAddress& address, Deadline deadline);
  Result<void> connect_unix(const SocketAddress& address, Deadline deadline);
  void on_connected(int status);
  void opened();
  // Ends both directions at once. May destroy the stream.
  void break_off(Error error);
  void release_socket();
  // The loop closes it at the end of the turn.
  void evict() override;
  // Tells the account how much memory the buffers take now.
  void count_held();
  std::string name() const;

  // Reading.
  void start_reading();
  void stop_reading();
  // Whether the sink may be given input: not while it is paused or its replies pile up.
  bool sink_is_open() const;
  std::span<std::byte> place_to_read();
  std::span<std::byte> place_to_read_for_sink();
  void note_received(ssize_t count);
  void on_read(ssize_t count);
  // May destroy the stream.
  void give_to_sink(std::span<const std::byte> bytes);
  void on_read_end(int status);
  // May destroy the stream.
  void deliver_early();
  void tell_end();

  // Writing.
  void send_output();
  // These two return false when the connection broke.
  bool send_now();
  bool send_rest();
  void on_written(int status);
  void fail_writing(int status);
  void drop_output();
  void output_changed();
  void arm_stall_check();
  void check_stall();
  std::size_t unsent_bytes() const;
  // How many bytes the peer is known to have received, over the stream's whole life.
  std::int64_t acknowledged_count() const;

  // Ordered by how often they are touched: for an idle connection none of it is in the cache when a
  // message comes, and each cache line counts.
  EventLoop::Impl& loop_;
  SocketHandle* socket_;  // Null once it is released.
  ReadHalf input_;
  std::optional<Error> failure_;      // Set when closed, broken, or at least unusable for writing.
  std::uint64_t read_turn_ = 0;       // The turn in which the sink last received input.
  std::uint64_t received_count_ = 0;  // Bytes, over all its life.
  TimePoint heard_at_{};              // When the last of them came.
  TimePoint reading_since_{};         // While it reads.
  bool reading_ = false;
  bool evicted_ = false;
  bool sending_ = false;              // libuv waits until the peer takes more.
  bool finishing_ = false;            // finish_writing() was called,
  bool finished_ = false;             // and the peer hears of it after the output.
  int descriptor_ = -1;               // The socket's, once it is open.
  ByteBuffer output_;                 // Queued behind the bytes being sent.
  std::uint64_t appended_count_ = 0;  // Bytes, over all its life.
  coroutine::Event writable_{"room for output"};
  coroutine::Event flushed_{"stream flush"};
  const StreamOptions options_;
  CallCount calls_;

  std::int64_t acknowledged_at_check_ = 0;
  int stalled_check_count_ = 0;
  int connect_status_ = 0;
  coroutine::Event connected_{"connect"};
  TimePoint opened_at_{};
  Endpoint peer_;
  Endpoint local_;
  ByteBudget::Account account_;
  ByteBudget::Share held_{&account_};
};

}  // namespace corolane::net::detail
