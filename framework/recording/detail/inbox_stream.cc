// SPDX-License-Identifier: MIT
#include "framework/recording/detail/inbox_stream.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "framework/recording/detail/messages.h"

namespace corolane::framework::recording {
namespace {

Error closed_here() { return Error(Code::unavailable, "the stream is closed"); }

}  // namespace

InboxStream::InboxStream(InboxNetwork& network, const Connected& connected,
                         const net::StreamOptions& options)
    : network_(network),
      id_(connected.stream()),
      local_(to_endpoint(connected.local())),
      peer_(to_endpoint(connected.peer())),
      options_(options) {
  network_.streams_.emplace(id_, this);
  statistics_.output_bytes_max = options.output_bytes_max;
  statistics_.opened_at = statistics_.heard_at = coroutine::Scheduler::current().turn_time();
  Ask ask;
  ask.set_read(id_);
  network_.inbox_.ask(std::move(ask));
}

InboxStream::~InboxStream() { close(); }

net::StreamStatistics InboxStream::statistics() const {
  net::StreamStatistics statistics = statistics_;
  statistics.unsent_bytes = unwritten_;
  statistics.acknowledged_bytes = statistics.written_bytes - unwritten_;
  if (!is_sink_open()) statistics.reading_since = TimePoint::max();
  return statistics;
}

Result<std::size_t> InboxStream::read_some(std::span<std::byte> buffer, Deadline deadline) {
  check(sink_ == nullptr, "a stream with a sink is not read by read_some()");
  while (received_.empty() && !ended_by_) {
    if (is_closed_) return closed_here();
    if (auto waited = readable_.wait(deadline); !waited) return waited.error();
  }
  if (is_closed_) return closed_here();
  if (received_.empty()) {
    if (!is_broken_) return std::size_t{0};
    return *ended_by_;
  }
  const std::size_t count = std::min(buffer.size(), received_.size());
  std::ranges::copy(std::as_bytes(std::span(received_)).first(count), buffer.begin());
  received_.erase(0, count);
  note_taken(count);
  return count;
}

void InboxStream::note_taken(std::size_t count) {
  const std::size_t again = std::min(count, unread_);
  unread_ -= again;
  taken_ += count - again;
  talk();
}

void InboxStream::set_read_sink(net::ReadSink& sink) {
  sink_ = &sink;
  hand_over_soon();
}

void InboxStream::release_read_sink(std::span<const std::byte> unread) {
  if (std::exchange(sink_, nullptr) == nullptr) return;
  is_paused_ = false;
  received_.insert(0, net::text_of(unread));
  unread_ += unread.size();
}

void InboxStream::resume_reading() {
  is_paused_ = false;
  hand_over_soon();
}

Result<void> InboxStream::write_all(std::span<const std::byte> bytes, Deadline deadline) {
  if (auto appended = append(bytes); !appended) return appended;
  while (unwritten_ > options_.output_bytes_max) {
    if (auto waited = writable_.wait(deadline); !waited) return waited.error();
    if (write_failed_) return *write_failed_;
    if (is_closed()) return closed_here();
  }
  return {};
}

Result<void> InboxStream::try_write(std::span<const std::byte> bytes) {
  if (!is_closed() && !write_failed_ && unwritten_ > options_.output_bytes_max) {
    return Error(Code::resource_exhausted, "the peer does not read");
  }
  return append(bytes);
}

Result<void> InboxStream::append(std::span<const std::byte> bytes) {
  if (is_closed()) return closed_here();
  if (write_failed_) return *write_failed_;
  if (is_finished_) return Error(Code::failed_precondition, "nothing is written after the end");
  if (bytes.empty()) return {};
  output_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  unwritten_ += bytes.size();
  statistics_.written_bytes += bytes.size();
  talk();
  return {};
}

Result<void> InboxStream::flush(Deadline deadline) {
  while (!is_closed() && !write_failed_ && unwritten_ > 0) {
    if (auto waited = writable_.wait(deadline); !waited) return waited.error();
  }
  if (write_failed_) return *write_failed_;
  if (is_closed()) return closed_here();
  return {};
}

void InboxStream::finish_writing() {
  if (is_closed() || std::exchange(is_finished_, true)) return;
  send_output();
  Ask ask;
  ask.set_finish(id_);
  network_.inbox_.ask(std::move(ask));
}

void InboxStream::close() {
  if (std::exchange(is_closed_, true)) return;
  network_.streams_.erase(id_);
  network_.talking_.erase(id_);
  Ask ask;
  ask.set_close(id_);
  network_.inbox_.ask(std::move(ask));
  sink_ = nullptr;
  readable_.pulse();
  writable_.pulse();
}

void InboxStream::send_output() {
  if (output_.empty()) return;
  Ask ask;
  ask.mutable_write()->set_stream(id_);
  ask.mutable_write()->set_bytes(std::exchange(output_, {}));
  network_.inbox_.ask(std::move(ask));
}

void InboxStream::end_turn() {
  send_output();
  if (taken_ == 0) return;
  Ask ask;
  ask.mutable_taken()->set_stream(id_);
  ask.mutable_taken()->set_size(std::exchange(taken_, 0));
  network_.inbox_.ask(std::move(ask));
}

void InboxStream::arrive(const std::string& bytes) {
  statistics_.received_bytes += bytes.size();
  statistics_.heard_at = coroutine::Scheduler::current().turn_time();
  received_ += bytes;
  hand_over();
}

// A stream may break after its peer has finished.
void InboxStream::arrive_end(const Ended& ended) {
  if (!ended_by_) ended_by_ = to_error(ended.failure());
  if (ended.is_broken()) {
    is_broken_ = true;
    output_.clear();
    writable_.pulse();
  }
  hand_over();
}

void InboxStream::arrive_write_failed(const Failure& failure) {
  write_failed_ = to_error(failure);
  output_.clear();
  writable_.pulse();
}

void InboxStream::arrive_written(std::size_t size) {
  const bool was_open = is_sink_open();
  unwritten_ -= std::min(size, unwritten_);
  if (!was_open && is_sink_open()) {
    statistics_.reading_since = coroutine::Scheduler::current().turn_time();
  }
  writable_.pulse();
  if (sink_ != nullptr) hand_over();
}

bool InboxStream::is_sink_open() const {
  return !is_paused_ && unwritten_ <= options_.output_while_reading_max;
}

// Posted, so the sink is never called inside the call that sets it.
void InboxStream::hand_over_soon() {
  if (received_.empty() && !ended_by_) return;
  coroutine::Scheduler::current().post([network = &network_, id = id_] {
    const auto found = network->streams_.find(id);
    if (found != network->streams_.end()) found->second->hand_over();
  });
}

void InboxStream::hand_over() {
  if (sink_ == nullptr) {
    readable_.pulse();
    return;
  }
  if (!received_.empty()) {
    if (is_sink_open()) {
      const std::string bytes = std::exchange(received_, {});
      note_taken(bytes.size());
      sink_->on_bytes(std::as_bytes(std::span(bytes)));
    } else if (!is_broken_) {
      return;
    }
  }
  // A closed sink receives nothing, not even the end.
  if (!is_sink_open() && !is_broken_) return;
  if (!is_closed_ && ended_by_ && sink_ != nullptr) {
    std::exchange(sink_, nullptr)->on_end(*ended_by_);
  }
}

}  // namespace corolane::framework::recording
