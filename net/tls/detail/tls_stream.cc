// SPDX-License-Identifier: MIT
// How a TlsStream opens, closes and writes; reading is in tls_stream_input.cc.
#include "net/tls/detail/tls_stream.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "net/tls/detail/tls_settings.h"
#include "net/tls/detail/tls_shared.h"

namespace corolane::net::detail {
namespace {

using namespace std::chrono_literals;

// A record of TLS holds 16 KiB: more than that need not wait for the end of the turn.
constexpr std::size_t sealed_at_once_bytes = 16 * 1024;
// The size of a piece to seal, so that output is never copied as a whole.
constexpr std::size_t sealed_piece_bytes = 64 * 1024;

// How long a refused peer has to read the reason.
constexpr Duration parting_time_max = 1s;
// The peer may request records (a new key) while the inner stream takes nothing: they are retried
// after this delay. An honest peer requests no more than these bytes.
constexpr Duration retry_delay = 5ms;
constexpr std::size_t unasked_bytes_max = 16 * 1024;

}  // namespace

TlsStream::TlsStream(std::unique_ptr<Stream> inner, std::shared_ptr<const TlsSettings> settings,
                     TlsSession::Role role, std::shared_ptr<TlsShared> shared,
                     const StreamOptions& options)
    : Timer([](Timer& timer) { static_cast<TlsStream&>(timer).on_time(); }),
      shared_(std::move(shared)),
      inner_(std::move(inner)),
      held_(inner_->account()),
      session_(std::move(settings), role, *shared_),
      output_bytes_max_(options.output_bytes_max),
      plain_(shared_->buffers, "TLS stream read") {}

TlsStream::~TlsStream() { close(); }

std::string TlsStream::name() const { return "TLS with " + to_string(inner_->peer_endpoint()); }

void TlsStream::shake_hands(Host& host, Deadline deadline) {
  host_ = &host;
  coroutine::Scheduler::current().timers().arm(*this, deadline);
  // Before the first step: if the peer is already gone, the next turn reports it.
  inner_->set_read_sink(*this);
  go_on_shaking_hands();
}

void TlsStream::go_on_shaking_hands() {
  switch (session_.shake_hands()) {
    case TlsSession::Step::done:
      Timer::cancel();
      state_ = State::open;
      peer_identity_ = session_.peer_identity();
      ++shared_->statistics.opened_count;
      send_sealed();
      return std::exchange(host_, nullptr)->opened(*this);
    case TlsSession::Step::needs_input:
      return send_sealed();
    case TlsSession::Step::ended:
      return refuse_peer(Error(Code::unavailable, "TLS: the peer ends the handshake"));
    case TlsSession::Step::failed:
      return refuse_peer(session_.failure());
  }
}

void TlsStream::refuse_peer(Error reason) {
  state_ = State::parting;
  failure_ = std::move(reason).with_context(name());
  ++shared_->statistics.failed_count;
  shared_->statistics.last_failure = failure_->message();
  send_sealed();
  inner_->finish_writing();
  coroutine::Scheduler::current().timers().arm(*this, Deadline::after(parting_time_max));
  host_->failed(*this);
}

void TlsStream::note_dropped() {
  ++shared_->statistics.failed_count;
  shared_->statistics.last_failure = name() + ": dropped in favour of a newer handshake";
}

void TlsStream::end_parting() {
  state_ = State::broken;
  Timer::cancel();
  inner_->close();
  std::exchange(host_, nullptr)->ended(*this);
}

void TlsStream::on_end(const Error& reason) {
  switch (state_) {
    case State::shaking_hands:
      refuse_peer(Error(reason.code(), "during the handshake: " + reason.message()));
      return end_parting();
    case State::parting:
      return end_parting();
    case State::open: {
      if (inner_->is_closed()) return break_off(reason);
      if (plain_.has_ended()) return;
      return break_off(Error(Code::unavailable, "cut off: the peer ended without close_notify"));
    }
    case State::broken:
      return;
  }
}

void TlsStream::break_off(Error reason) {
  state_ = State::broken;
  if (!failure_) failure_ = std::move(reason).with_context(name());
  shared_->buffers.give_back(std::move(output_));
  plain_.end();
  // Closes both directions; tasks that wait to write are woken by it. The alert for the peer has
  // been sent, or is lost like everything else.
  inner_->close();
  end_turn_soon();
}

void TlsStream::close() {
  state_ = State::broken;
  host_ = nullptr;
  plain_.close();
  if (!failure_) failure_ = Error(Code::unavailable, name() + ": closed");
  Timer::cancel();
  shared_->buffers.give_back(std::move(output_));
  inner_->close();
}

Result<void> TlsStream::check_writable() const {
  if (failure_) return *failure_;
  if (!finishing_) return {};
  return Error(Code::failed_precondition, name() + ": nothing is written after the end");
}

Result<void> TlsStream::write_all(std::span<const std::byte> bytes, Deadline deadline) {
  if (auto writable = check_writable(); !writable) return writable;
  const CallCount::Inside inside(calls_);
  const bool is_small = output_.size() + bytes.size() < sealed_at_once_bytes;
  // An empty write checks whether the inner stream is above its mark.
  if (is_small && inner_->try_write({})) {
    if (output_.capacity() == 0) output_ = shared_->buffers.lend();
    output_.append(bytes);
    end_turn_soon();
    return {};
  }
  seal_output();
  force_sealed();
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), sealed_piece_bytes));
    session_.write(piece);
    force_sealed();
    bytes = bytes.subspan(piece.size());
  }
  // An empty write waits for room behind all of that.
  return inner_->write_all({}, deadline);
}

Result<void> TlsStream::try_write(std::span<const std::byte> bytes) {
  if (auto writable = check_writable(); !writable) return writable;
  if (auto room = inner_->try_write({}); !room) return room;
  if (output_.size() > output_bytes_max_) {
    return Error(Code::resource_exhausted, name() + ": " + std::to_string(output_.size()) +
                                               " bytes wait to be sent in this turn");
  }
  return append(bytes);
}

Result<void> TlsStream::append(std::span<const std::byte> bytes) {
  if (auto writable = check_writable(); !writable) return writable;
  if (output_.capacity() == 0) output_ = shared_->buffers.lend();
  output_.append(bytes);
  end_turn_soon();
  return {};
}

Result<void> TlsStream::flush(Deadline deadline) {
  if (failure_) return *failure_;
  const CallCount::Inside inside(calls_);
  seal_output();
  force_sealed();
  return inner_->flush(deadline);
}

void TlsStream::finish_writing() {
  if (failure_ || std::exchange(finishing_, true)) return;
  seal_output();
  session_.finish();
  send_sealed();
}

void TlsStream::seal_output() {
  if (output_.empty()) return;
  session_.write(output_.bytes());
  shared_->buffers.give_back(std::move(output_));
}

// Never suspends. The inner stream reports a broken connection.
void TlsStream::send_sealed() {
  const auto sealed = session_.sealed().bytes();
  if (!sealed.empty()) {
    const auto sent = inner_->try_write(sealed);
    if (!sent && sent.error().code() == Code::resource_exhausted) {
      if (state_ == State::open && !finishing_ && sealed.size() > unasked_bytes_max) {
        return break_off(
            Error(Code::unavailable, "the peer does not read the records it requests"));
      }
      return coroutine::Scheduler::current().timers().arm(*this, Deadline::after(retry_delay));
    }
    session_.release_sealed();
  }
  count_held();
  finish_inner();
}

void TlsStream::count_held() {
  held_.set(output_.capacity() + session_.sealed().capacity() + plain_.early_capacity());
}

void TlsStream::force_sealed() {
  if (session_.sealed().empty()) return;
  // The result does not matter: it does not wait, and a broken connection is reported again.
  static_cast<void>(inner_->write_all(session_.sealed().bytes(), Deadline::passed()));
  session_.release_sealed();
}

void TlsStream::finish_inner() {
  if (!finishing_ || std::exchange(finished_, true)) return;
  inner_->finish_writing();
}

void TlsStream::end_turn_soon() {
  // The loop fires timers that have passed before it sends the output that streams have collected.
  coroutine::Scheduler::current().timers().arm(*this, Deadline::passed());
}

void TlsStream::on_time() {
  switch (state_) {
    case State::shaking_hands:
      return refuse_peer(Error(Code::deadline_exceeded, "the handshake took too long"));
    case State::parting:
      return end_parting();
    case State::open:
      seal_output();
      send_sealed();
      break;
    case State::broken:
      break;
  }
  deliver();
}

}  // namespace corolane::net::detail
