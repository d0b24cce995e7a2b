// SPDX-License-Identifier: MIT
// The part that both ends of a connection share: a stream of frames, the handshake, liveness.
//
// Cuts frames on the loop's stack and passes them to its derived class. Closes a peer that sends
// malformed frames, or whose handshake fails or takes too long; a server first tells it why (bye).
// Also closes a peer that stays silent for too long after a ping.
#pragma once

#include <google/protobuf/message_lite.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/timer_wheel.h"
#include "net/peer_life.h"
#include "net/stream.h"
#include "rpc/options.h"
#include "rpc/wire/detail/handshake.h"
#include "rpc/wire/frame.h"

namespace corolane::rpc::detail {

class Connection : private net::ReadSink, private coroutine::Timer {
 public:
  struct Limits {
    Duration handshake_time_max;
    Keepalive keepalive;
    // An unfinished frame must make at least this progress, or be complete, within this time: no
    // buffer is kept for a slower peer. A phone at the edge of its cell sends 6.4 KiB/s, so a
    // request of 64 KiB has ten seconds, and one of 4 MiB between nodes passes a narrow link as
    // well.
    std::size_t frame_bytes_min = 64 * std::size_t{1024};
    Duration frame_time_max = std::chrono::seconds(10);
  };

  Connection(std::unique_ptr<net::Stream> stream, Handshake handshake, const Limits& limits);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // A client says hello; both ends begin to read.
  void start();

  // Sends a frame with a message, and an extension before it. Suspends while the peer takes
  // nothing; needs a task. Fails as net::Stream::write_all() does, or with resource_exhausted,
  // sending nothing, when the message is above the limit that the peer has named.
  Result<void> send(FrameHeader&& header, const google::protobuf::MessageLite& message,
                    Deadline deadline, std::string_view extension = {});
  // The same for the one reply of a call, with which its handler ends: suspends only for a large
  // reply. For a small one deadline_exceeded means only that it is queued for the peer.
  Result<void> send_reply(FrameHeader&& header, const google::protobuf::MessageLite& message,
                          Deadline deadline, std::string_view extension = {});
  // The same with a text, which may be empty. Does not suspend when the deadline has passed.
  Result<void> send_text(FrameHeader&& header, std::string_view text, Deadline deadline,
                         std::string_view extension = {});
  // The same on the loop's stack: never suspends. Closes a peer that does not read what it asked
  // for.
  void send_text(FrameHeader&& header, std::string_view text, std::string_view extension = {});

  // The same, but leaves a peer that does not read as it is: fails as net::Stream::try_write(), and
  // sends nothing then.
  Result<void> try_send_text(FrameHeader&& header, std::string_view text,
                             std::string_view extension = {});

  // The same above the high-water mark as well, for a few bytes that the peer must have.
  void append_text(FrameHeader&& header, std::string_view text);

  // Ends the connection: calls on_lost() at once. Unless that calls close(), as a client's does,
  // sends the reason to the peer and closes once the peer has read it, after a second at the
  // latest.
  void say_bye(const Error& reason);
  // Drops queued output and closes, without a callback to the derived class.
  void close();

  // The handshake is done, and neither end has said bye.
  bool is_open() const { return state_ == State::open; }
  // The connection was ended because of invalid input from the peer.
  bool broke_protocol() const { return broke_protocol_; }
  // When the bytes arrived whose frames are being handled.
  TimePoint heard_at() const { return life_.heard_at(); }
  // So far.
  std::uint64_t received_bytes() const { return received_bytes_; }
  std::uint64_t sent_bytes() const { return sent_bytes_; }
  const std::string& requester() const { return handshake_.requester(); }
  const std::string& token() const { return handshake_.token(); }
  // The largest payload that this end takes.
  std::size_t payload_bytes_max() const { return handshake_.payload_bytes_max(); }
  net::Stream& stream() { return *stream_; }
  const net::Stream& stream() const { return *stream_; }

 protected:
  ~Connection() = default;
  // Answers the hello of a client for which on_hello() has returned false.
  void accept();
  // A hello for which on_hello() has returned false is not answered yet.
  bool awaits_answer() const { return state_ == State::begins && has_hello_to_answer_; }
  Handshake& handshake() { return handshake_; }

 private:
  enum class State { begins, open, leaving, ended };

  // On the loop's stack: must not suspend, may close this connection but not destroy it.
  //
  // A server has read the hello of its client. Returns true to answer it at once, and false when
  // accept() will, or say_bye().
  virtual Result<bool> on_hello() { return true; }
  virtual Result<void> on_open() = 0;
  // An error ends the connection as say_bye() does.
  virtual Result<void> on_frame(const Frame& frame) = 0;
  // The frames that have arrived at once are handled, and the connection is open.
  virtual void on_pause() {}
  // Called once, unless close() was called: no more frames come or go.
  virtual void on_lost(const Error& reason) = 0;
  // Called once after on_lost(): the stream is closed, and the connection may soon be destroyed.
  virtual void on_closed() {}

  void on_bytes(std::span<const std::byte> bytes) override;
  void on_end(const Error& reason) override;
  // Builds a frame in the stream's buffer, to be written at once; sets the sizes in `header`.
  Result<std::span<const std::byte>> make_frame(FrameHeader& header,
                                                const google::protobuf::MessageLite& message,
                                                std::string_view extension);
  void say_hello();
  Result<void> handle(const Frame& frame);
  Result<void> handle_first(const Frame& frame);
  Result<void> open();
  void on_time();
  void note_unfinished_frame();
  bool unfinished_frame_is_late(const net::StreamStatistics& statistics, TimePoint time);
  void look_for_life();
  void look_again(TimePoint time);
  void break_off(const Error& reason);

  std::unique_ptr<net::Stream> stream_;
  net::ByteBudget::Share held_;  // By the decoder.
  Handshake handshake_;
  const Limits limits_;
  FrameDecoder decoder_;
  State state_ = State::begins;
  bool has_hello_to_answer_ = false;
  bool broke_protocol_ = false;
  net::PeerLife life_;
  // An incomplete frame: how many came before it, when its time began to run, and how much had been
  // received by then.
  struct Unfinished {
    std::uint64_t number;
    TimePoint since;
    std::uint64_t received_bytes;
  };
  std::optional<Unfinished> unfinished_;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t sent_bytes_ = 0;
};

}  // namespace corolane::rpc::detail
