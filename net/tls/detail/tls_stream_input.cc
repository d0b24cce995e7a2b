// SPDX-License-Identifier: MIT
// The reading half of TlsStream: records are opened on arrival, directly for a waiting task,
// through the network's buffer for the sink, or a little ahead of both.
#include <utility>

#include "net/tls/detail/tls_shared.h"
#include "net/tls/detail/tls_stream.h"

namespace corolane::net::detail {
namespace {

using Step = TlsSession::Step;

// How far a stream reads ahead of a busy task; above that the inner stream pauses. Its own
// read-ahead comes on top: one buffer of its loop.
constexpr std::size_t early_plain_bytes_max = 16 * 1024;
constexpr std::size_t record_bytes_max = 16 * 1024;

}  // namespace

Result<std::size_t> TlsStream::read_some(std::span<std::byte> buffer, Deadline deadline) {
  auto count = plain_.read_some(buffer, deadline);
  if (!count) return std::move(count.error()).with_context(name());
  if (*count == 0 && failure_) return *failure_;
  regulate_inner();
  return *count;
}

void TlsStream::set_read_sink(ReadSink& sink) {
  if (plain_.set_sink(sink)) end_turn_soon();
}

void TlsStream::release_read_sink(std::span<const std::byte> unread) {
  plain_.release_sink(unread);
  regulate_inner();
}

void TlsStream::pause_reading() {
  plain_.pause();
  regulate_inner();
}

void TlsStream::resume_reading() {
  // The inner stream resumes once the waiting input is delivered.
  if (plain_.resume() && plain_.has_sink()) end_turn_soon();
}

void TlsStream::regulate_inner() {
  count_held();
  if (state_ != State::open) return;
  const bool has_enough = plain_.is_paused() || plain_.early_size() >= early_plain_bytes_max;
  inner_pause_.regulate(*inner_, has_enough, !plain_.has_early());
}

void TlsStream::on_bytes(std::span<const std::byte> bytes) {
  if (state_ == State::parting || state_ == State::broken) return;
  session_.feed(bytes);
  if (state_ == State::shaking_hands) go_on_shaking_hands();
  if (state_ != State::open) return;
  open_records();
  regulate_inner();
  // New keys that the peer requested.
  if (state_ == State::open && !session_.sealed().empty()) send_sealed();
}

void TlsStream::open_records() {
  for (Step step = Step::done; step == Step::done;) {
    step = open_next();
    if (state_ != State::open) return;
    if (step == Step::failed) return break_off(session_.failure());
    if (step == Step::ended && !plain_.has_ended()) {
      plain_.end();
      deliver();
    }
  }
}

TlsSession::Step TlsStream::open_next() {
  if (plain_.feeds_sink() && !plain_.is_paused()) return open_for_sink();
  std::size_t count = 0;
  const Step step = session_.read(plain_.room(record_bytes_max), count);
  plain_.fill(count);
  return step;
}

// Several small records are one call of the sink.
TlsSession::Step TlsStream::open_for_sink() {
  const std::span<std::byte> buffer = shared_->read_buffer;
  std::size_t filled_count = 0;
  Step step = Step::done;
  while (step == Step::done && filled_count < buffer.size()) {
    std::size_t count = 0;
    step = session_.read(buffer.subspan(filled_count), count);
    filled_count += count;
  }
  if (filled_count > 0) plain_.sink().on_bytes(buffer.first(filled_count));
  return step;
}

void TlsStream::deliver() {
  if (plain_.has_sink() && plain_.has_early() && !plain_.is_paused()) plain_.deliver_early();
  if (plain_.owes_end(failure_.has_value())) return tell_end();
  regulate_inner();
}

void TlsStream::tell_end() {
  plain_.tell_end(failure_ ? *failure_ : Error(Code::unavailable, name() + ": closed by peer"));
}

}  // namespace corolane::net::detail
