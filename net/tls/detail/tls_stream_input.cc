// The reading half of TlsStream: records are opened on arrival, directly for a waiting task,
// through the network's buffer for the sink, or a little ahead of both.
#include <algorithm>
#include <cstring>
#include <utility>

#include "coroutine/base/check.h"
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

// A task inside read_some(); lives on its stack.
struct TlsStream::Reader {
  std::span<std::byte> buffer;
  std::size_t count = 0;
};

Result<std::size_t> TlsStream::read_some(std::span<std::byte> buffer, Deadline deadline) {
  check(sink_ == nullptr, "a stream with a sink has no other reader");
  check(readable_.empty(), "a stream has one reader at a time");
  check(!buffer.empty(), "there is room for what read_some() reads");
  if (!early_.empty()) {
    const std::size_t count = std::min(buffer.size(), early_.size());
    std::memcpy(buffer.data(), early_.bytes().data(), count);
    early_.consume(count);
    if (early_.empty()) shared_->buffers.give_back(std::move(early_));
    regulate_inner();
    return count;
  }
  if (!read_ended_) {
    const CallCount::Inside inside(calls_);
    Reader reader{.buffer = buffer};
    if (auto waited = readable_.wait_or_fail(deadline, &reader); !waited) {
      return std::move(waited.error()).with_context(name());
    }
    if (reader.count > 0) return reader.count;
  }
  if (failure_) return *failure_;
  return 0;
}

void TlsStream::set_read_sink(ReadSink& sink) {
  check(readable_.empty(), "no task reads from a stream that is given a sink");
  if (closed_) return;
  sink_ = &sink;
  end_turn_soon();
}

void TlsStream::pause_reading() {
  paused_ = true;
  regulate_inner();
}

void TlsStream::resume_reading() {
  if (!std::exchange(paused_, false) || closed_) return;
  // The inner stream resumes once the waiting input is delivered.
  end_turn_soon();
}

void TlsStream::regulate_inner() {
  if (state_ != State::open) return;
  const bool has_enough = paused_ || early_.size() >= early_plain_bytes_max;
  if (has_enough && !inner_paused_) {
    inner_paused_ = true;
    inner_->pause_reading();
  } else if (inner_paused_ && !paused_ && early_.empty()) {
    inner_paused_ = false;
    inner_->resume_reading();
  }
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
    if (step == Step::ended && !read_ended_) {
      read_ended_ = true;
      readable_.notify_all();
      deliver();
    }
  }
}

TlsSession::Step TlsStream::open_next() {
  if (!readable_.empty()) {
    auto& reader = *static_cast<Reader*>(readable_.front_slot());
    const Step step = session_.read(reader.buffer, reader.count);
    if (step == Step::done) readable_.notify_one();
    return step;
  }
  if (sink_ != nullptr && !paused_ && early_.empty()) return open_for_sink();
  if (early_.capacity() == 0) early_ = shared_->buffers.lend();
  std::size_t count = 0;
  const Step step = session_.read(early_.room(record_bytes_max), count);
  early_.commit(count);
  if (early_.empty()) shared_->buffers.give_back(std::move(early_));
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
  if (filled_count > 0) sink_->on_bytes(buffer.first(filled_count));
  return step;
}

void TlsStream::deliver() {
  if (sink_ == nullptr) return;
  // A paused sink is told only of a broken connection.
  if (paused_ && (!failure_ || !early_.empty())) return;
  if (!early_.empty()) {
    ByteBuffer early = std::move(early_);
    sink_->on_bytes(early.bytes());
    shared_->buffers.give_back(std::move(early));
    if (sink_ == nullptr || (paused_ && !failure_)) return;
  }
  if (early_.empty() && read_ended_) return tell_end();
  regulate_inner();
}

void TlsStream::tell_end() {
  const Error reason = failure_ ? *failure_ : Error(Code::unavailable, name() + ": closed by peer");
  std::exchange(sink_, nullptr)->on_end(reason);
}

}  // namespace corolane::net::detail
