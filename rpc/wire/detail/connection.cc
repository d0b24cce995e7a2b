// SPDX-License-Identifier: MIT
#include "rpc/wire/detail/connection.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "coroutine/scheduler.h"

namespace corolane::rpc::detail {
namespace {

using namespace std::chrono_literals;

// A reply up to this size is queued for a client that does not read, so that no handler waits with
// its stack. No new requests are read from such a client, and at most some dozens are in flight.
constexpr std::size_t small_reply_bytes = 4 * 1024;

// How long a peer may take to read why it is closed.
constexpr Duration leave_time_max = 1s;

// Begins a frame in the buffer of `stream` and writes its header.
std::span<std::byte> begin_frame(net::Stream& stream, const FrameHeader& header) {
  const std::span<std::byte> frame = stream.room_to_write(frame_header_size + header.payload_size);
  encode(header, frame.first<frame_header_size>());
  return frame;
}

// An empty text may have a null address, which memcpy() does not allow even for a size of 0.
void put_behind_header(std::span<std::byte> frame, std::string_view text, std::size_t offset = 0) {
  if (text.empty()) return;
  std::memcpy(frame.data() + frame_header_size + offset, text.data(), text.size());
}

std::span<const std::byte> text_frame(net::Stream& stream, FrameHeader& header,
                                      std::string_view text, std::string_view extension) {
  header.payload_size = static_cast<std::uint32_t>(text.size() + extension.size());
  header.extension_size = static_cast<std::uint32_t>(extension.size());
  const std::span<std::byte> bytes = begin_frame(stream, header);
  put_behind_header(bytes, extension);
  put_behind_header(bytes, text, extension.size());
  return bytes;
}

}  // namespace

Connection::Connection(std::unique_ptr<net::Stream> stream, Handshake handshake,
                       const Limits& limits)
    : Timer([](Timer& timer) { static_cast<Connection&>(timer).on_time(); }),
      stream_(std::move(stream)),
      held_(stream_->account()),
      handshake_(std::move(handshake)),
      limits_(limits),
      decoder_(std::min(hello_bytes_max, handshake_.payload_bytes_max())),
      life_(now()) {}

void Connection::start() {
  coroutine::Scheduler::current().timers().arm(*this, Deadline::after(limits_.handshake_time_max));
  if (handshake_.speaks_first()) say_hello();
  stream_->set_read_sink(*this);
}

void Connection::say_hello() {
  send_text({.type = FrameType::hello, .call_id = hello_magic, .method_id = handshake_.version()},
            handshake_.hello());
}

Result<void> Connection::send(FrameHeader&& header, const google::protobuf::MessageLite& message,
                              Deadline deadline, std::string_view extension) {
  auto frame = make_frame(header, message, extension);
  if (!frame) return frame.error();
  sent_bytes_ += frame->size();
  return stream_->write_all(*frame, deadline);
}

Result<void> Connection::send_reply(FrameHeader&& header,
                                    const google::protobuf::MessageLite& message, Deadline deadline,
                                    std::string_view extension) {
  auto frame = make_frame(header, message, extension);
  if (!frame) return frame.error();
  sent_bytes_ += frame->size();
  const bool is_small = frame->size() <= small_reply_bytes;
  return stream_->write_all(*frame, is_small ? Deadline::passed() : deadline);
}

Result<std::span<const std::byte>> Connection::make_frame(
    FrameHeader& header, const google::protobuf::MessageLite& message, std::string_view extension) {
  const std::size_t size = message.ByteSizeLong() + extension.size();
  if (const std::size_t limit = handshake_.peer_payload_bytes_max(); size > limit) {
    return above_limit("a message", size, limit);
  }
  header.payload_size = static_cast<std::uint32_t>(size);
  header.extension_size = static_cast<std::uint32_t>(extension.size());
  const std::span<std::byte> bytes = begin_frame(*stream_, header);
  put_behind_header(bytes, extension);
  message.SerializeWithCachedSizesToArray(
      reinterpret_cast<std::uint8_t*>(bytes.data() + frame_header_size + extension.size()));
  return bytes;
}

Result<void> Connection::send_text(FrameHeader&& header, std::string_view text, Deadline deadline,
                                   std::string_view extension) {
  sent_bytes_ += frame_header_size + text.size() + extension.size();
  return stream_->write_all(text_frame(*stream_, header, text, extension), deadline);
}

void Connection::send_text(FrameHeader&& header, std::string_view text,
                           std::string_view extension) {
  sent_bytes_ += frame_header_size + text.size() + extension.size();
  const auto written = stream_->try_write(text_frame(*stream_, header, text, extension));
  if (!written && written.error().code() == Code::resource_exhausted) {
    break_off(Error(Code::unavailable, "closed: the peer does not read its replies"));
  }
}

Result<void> Connection::try_send_text(FrameHeader&& header, std::string_view text,
                                       std::string_view extension) {
  // A frame that does not fit would be built for nothing.
  if (auto room = stream_->try_write({}); !room) return room;
  auto written = stream_->try_write(text_frame(*stream_, header, text, extension));
  if (written) sent_bytes_ += frame_header_size + extension.size() + text.size();
  return written;
}

void Connection::append_text(FrameHeader&& header, std::string_view text) {
  sent_bytes_ += frame_header_size + text.size();
  static_cast<void>(stream_->append(text_frame(*stream_, header, text, {})));
}

void Connection::say_bye(const Error& reason) {
  if (state_ == State::leaving || state_ == State::ended) return;
  state_ = State::leaving;
  on_lost(reason);
  if (state_ == State::ended) return;
  append_text({.type = FrameType::bye, .code = static_cast<std::uint8_t>(reason.code())},
              reason.message());
  if (state_ == State::ended) return;
  stream_->finish_writing();
  coroutine::Scheduler::current().timers().arm(*this, Deadline::after(leave_time_max));
}

void Connection::close() {
  state_ = State::ended;
  Timer::cancel();
  stream_->close();
}

void Connection::on_bytes(std::span<const std::byte> bytes) {
  if (state_ == State::leaving || state_ == State::ended) return;
  life_.heard(now());
  received_bytes_ += bytes.size();
  decoder_.feed(bytes);
  for (Frame frame;;) {
    const auto more = decoder_.next(frame);
    if (more && !*more) {
      note_unfinished_frame();
      if (state_ == State::open) on_pause();
      return;
    }
    const Result<void> handled = more ? handle(frame) : more.error();
    if (!handled) {
      broke_protocol_ = true;
      say_bye(handled.error());
    }
    if (state_ == State::leaving || state_ == State::ended) return;
  }
}

void Connection::on_end(const Error& reason) {
  const State before = std::exchange(state_, State::ended);
  if (before == State::ended) return;
  Timer::cancel();
  if (before != State::leaving) on_lost(reason);
  on_closed();
}

Result<void> Connection::handle(const Frame& frame) {
  switch (frame.header.type) {
    case FrameType::bye:
      break_off(Error(code_from_number(frame.header.code), std::string(text_of(frame))));
      return {};
    case FrameType::ping:
      if (state_ != State::open) break;
      send_text({.type = FrameType::pong}, "");
      return {};
    case FrameType::pong:
      if (state_ != State::open) break;
      return {};
    default:
      if (state_ == State::open) return on_frame(frame);
  }
  return handle_first(frame);
}

Result<void> Connection::handle_first(const Frame& frame) {
  if (has_hello_to_answer_) {
    return Error(Code::unauthenticated, "a frame arrived before the answer to the hello");
  }
  const bool answers_hello = !handshake_.speaks_first() && !handshake_.has_hello();
  auto taken = handshake_.take(frame);
  if (!taken) return taken.error();
  if (answers_hello) {
    auto is_accepted = on_hello();
    if (!is_accepted) return is_accepted.error();
    if (state_ != State::begins) return {};
    has_hello_to_answer_ = !*is_accepted;
    if (has_hello_to_answer_) return {};
    say_hello();
  }
  if (*taken) send_text({.type = FrameType::auth}, net::text_of(**taken));
  return open();
}

void Connection::accept() {
  if (state_ != State::begins || !std::exchange(has_hello_to_answer_, false)) return;
  say_hello();
  if (auto opened = open(); !opened) say_bye(opened.error());
}

Result<void> Connection::open() {
  if (!handshake_.is_done() || state_ == State::ended) return {};
  handshake_.forget_texts();
  state_ = State::open;
  decoder_.set_payload_size_max(handshake_.payload_bytes_max());
  look_again(life_.silent_at(limits_.keepalive.interval));
  return on_open();
}

void Connection::on_time() {
  switch (state_) {
    case State::begins:
      return say_bye(Error(Code::deadline_exceeded, has_hello_to_answer_
                                                        ? "the login was not done in time"
                                                        : "no hello arrived in time"));
    case State::open:
      return look_for_life();
    case State::leaving:
      return break_off(Error(Code::unavailable, "closed after bye"));
    case State::ended:
      return;
  }
}

// Costs nothing for a frame that arrives in one piece, and no timer for others: look_for_life()
// checks.
void Connection::note_unfinished_frame() {
  held_.set(decoder_.held_bytes());
  if (!decoder_.has_unfinished()) {
    unfinished_.reset();
  } else if (!unfinished_ || unfinished_->number != decoder_.ended_count()) {
    unfinished_ = {
        .number = decoder_.ended_count(), .since = heard_at(), .received_bytes = received_bytes_};
  }
}

// While this end does not read, the peer is not late.
bool Connection::unfinished_frame_is_late(const net::StreamStatistics& statistics, TimePoint time) {
  if (!unfinished_) return false;
  if (received_bytes_ - unfinished_->received_bytes >= limits_.frame_bytes_min) {
    unfinished_->since = time;
    unfinished_->received_bytes = received_bytes_;
  }
  unfinished_->since = std::max(unfinished_->since, std::min(statistics.reading_since, time));
  return time - unfinished_->since >= limits_.frame_time_max;
}

void Connection::look_for_life() {
  const TimePoint time = now();
  const net::StreamStatistics statistics = stream_->statistics();
  if (unfinished_frame_is_late(statistics, time)) {
    return say_bye(Error(Code::deadline_exceeded, "a frame was not completed in time"));
  }
  switch (life_.look(statistics, time, limits_.keepalive.interval)) {
    case net::PeerLife::State::alive:
      return look_again(life_.silent_at(limits_.keepalive.interval));
    case net::PeerLife::State::gone:
      return break_off(life_.gone(time));
    case net::PeerLife::State::silent:
      break;
  }
  coroutine::Scheduler::current().timers().arm(*this, Deadline::after(limits_.keepalive.patience));
  // Above the mark there is no room for a ping; whether the peer takes its output says as much.
  if (statistics.unsent_bytes <= statistics.output_bytes_max) {
    send_text({.type = FrameType::ping}, "");
  }
}

// Checks no later than a frame that begins right now would be late.
void Connection::look_again(TimePoint time) {
  const TimePoint frame_is_late =
      (unfinished_ ? unfinished_->since : now()) + limits_.frame_time_max;
  coroutine::Scheduler::current().timers().arm(*this, Deadline::at(std::min(time, frame_is_late)));
}

void Connection::break_off(const Error& reason) {
  stream_->close();
  on_end(reason);
}

}  // namespace corolane::rpc::detail
