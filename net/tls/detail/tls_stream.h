// SPDX-License-Identifier: MIT
// A Stream inside of TLS, over any other Stream.
//
// It is the read sink of the inner stream, and opens records right there; plain text that the
// reader does not want yet waits, while the inner stream pauses. Output collects until the end of
// the turn and is sealed in one piece, or at once when it exceeds a record. The high-water mark is
// that of the inner stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/timer_wheel.h"
#include "net/detail/byte_buffer.h"
#include "net/detail/call_count.h"
#include "net/detail/handshaking_stream.h"
#include "net/detail/read_half.h"
#include "net/stream.h"
#include "net/tls/detail/tls_session.h"

namespace corolane::net::detail {

class TlsStream final : public HandshakingStream, private ReadSink, private coroutine::Timer {
 public:
  TlsStream(std::unique_ptr<Stream> inner, std::shared_ptr<const TlsSettings> settings,
            TlsSession::Role role, std::shared_ptr<TlsShared> shared, const StreamOptions& options);
  ~TlsStream() override;
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // For a client, before the handshake: see TlsSession.
  Result<void> expect(const std::string& name) { return session_.expect(name); }
  void shake_hands(Host& host, Deadline deadline) override;
  void note_dropped() override;
  // Why the handshake failed.
  const Error& failure() const { return *failure_; }
  // Suspends until the reason is sent, as far as the peer takes it.
  void say_why(Deadline deadline) { static_cast<void>(inner_->flush(deadline)); }

  Result<std::size_t> read_some(std::span<std::byte> buffer, Deadline deadline) override;
  void set_read_sink(ReadSink& sink) override;
  void release_read_sink(std::span<const std::byte> unread) override;
  void pause_reading() override;
  void resume_reading() override;
  Result<void> write_all(std::span<const std::byte> bytes, Deadline deadline) override;
  Result<void> try_write(std::span<const std::byte> bytes) override;
  Result<void> append(std::span<const std::byte> bytes) override;
  Result<void> flush(Deadline deadline) override;
  void finish_writing() override;
  void close() override;
  bool is_closed() const override { return failure_.has_value() || inner_->is_closed(); }
  const Endpoint& peer_endpoint() const override { return inner_->peer_endpoint(); }
  const Endpoint& local_endpoint() const override { return inner_->local_endpoint(); }
  StreamStatistics statistics() const override {
    StreamStatistics statistics = inner_->statistics();
    statistics.unsent_bytes += output_.size();
    statistics.is_encrypted = true;
    return statistics;
  }
  ByteBudget::Account* account() override { return inner_->account(); }
  PartingStreams* parting_streams() override { return inner_->parting_streams(); }
  std::string_view peer_identity() const override { return peer_identity_; }

 private:
  enum class State : std::uint8_t { shaking_hands, parting, open, broken };

  // Called by the inner stream.
  void on_bytes(std::span<const std::byte> bytes) override;
  void on_end(const Error& reason) override;

  void go_on_shaking_hands();
  void refuse_peer(Error reason);
  void end_parting();
  void break_off(Error reason);
  std::string name() const;

  // Reading. A call of the sink may close the stream.
  void open_records();
  TlsSession::Step open_next();
  TlsSession::Step open_for_sink();
  void deliver();
  void tell_end();
  // Pauses the inner stream while more input waits than the reader wants, and resumes it after
  // that.
  void regulate_inner();

  // Writing.
  Result<void> check_writable() const;
  void seal_output();
  void send_sealed();
  // In a task: sends even above the high-water mark.
  void force_sealed();
  void finish_inner();
  void on_time();
  void end_turn_soon();
  // Tells the account of the connection how much memory waits here.
  void count_held();

  // Outlives the session, which borrows from it.
  const std::shared_ptr<TlsShared> shared_;
  std::unique_ptr<Stream> inner_;
  ByteBudget::Share held_;
  TlsSession session_;
  const std::size_t output_bytes_max_;
  State state_ = State::shaking_hands;
  Host* host_ = nullptr;
  std::string peer_identity_;
  std::optional<Error> failure_;
  CallCount calls_;

  ReadHalf plain_;  // Input of opened records.
  SourcePause inner_pause_;

  ByteBuffer output_;       // Not sealed yet.
  bool finishing_ = false;  // finish_writing() was called,
  bool finished_ = false;   // and the inner stream knows.
};

}  // namespace corolane::net::detail
