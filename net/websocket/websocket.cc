// SPDX-License-Identifier: MIT
#include "net/websocket/websocket.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/base/prefetch.h"
#include "coroutine/base/text.h"
#include "coroutine/scheduler.h"
#include "net/crypto.h"
#include "net/parting_streams.h"

namespace corolane::net {
namespace {

using detail::WebSocketMask;
using detail::WebSocketOpcode;

// How much input waits here for a busy reader; above that the stream pauses.
constexpr std::size_t unread_bytes_max = 16 * 1024;
// The thread's frame buffer shrinks to this size after a larger frame.
constexpr std::size_t kept_buffer_bytes = 64 * 1024;
// The bound of a close frame: 125 bytes with the code.
constexpr std::size_t reason_bytes_max = 123;
constexpr std::uint16_t going_away = 1001;
// The delay before a close frame is retried for which the stream had no room.
constexpr Duration close_retry_delay = std::chrono::milliseconds(10);

// Section 5.3: from a strong source of entropy, anew for each frame. Fetching many at once saves a
// system call per frame.

std::string describe(const WebSocketClose& close) {
  std::string text = "WebSocket: closed by peer with " + std::to_string(close.code);
  if (!close.reason.empty()) text += ": " + close.reason;
  return text;
}

}  // namespace

WebSocket::WebSocket(std::unique_ptr<Stream> stream, Role role, const WebSocketOptions& options,
                     std::span<const std::byte> early,
                     const std::optional<WebSocketDeflate>& deflate)
    : Timer([](Timer& timer) { static_cast<WebSocket&>(timer).on_time(); }),
      stream_(std::move(stream)),
      role_(role),
      life_(now()),
      deflate_(deflate),
      decoder_(role == Role::server,
               {.message_bytes_max = options.message_bytes_max,
                .fragment_count_max = options.fragment_count_max},
               deflate.has_value()),
      options_(options) {
  unread_.append(early);
  if (!early.empty()) delivery_is_due_ = true;
  stream_->set_read_sink(*this);
  rearm();
}

WebSocket::~WebSocket() {
  reader_.drop_sink();
  // Outside of a scheduler nothing can be sent any more.
  if (coroutine::Scheduler::current_or_null() != nullptr) {
    close(going_away);
    if (state_ == State::closing || state_ == State::parting) leave_stream();
  }
  abort();
}

void WebSocket::leave_stream() {
  PartingStreams* const parting = stream_->parting_streams();
  if (parting == nullptr) return;
  parting->take(std::move(stream_), std::move(unsent_close_), options_.close_time_max);
}

void WebSocket::abort() {
  state_ = State::ended;
  Timer::cancel();
  if (!failure_) failure_ = Error(Code::unavailable, "WebSocket: closed");
  reader_.close();
  ended_.pulse();
  if (stream_ != nullptr) stream_->close();
}

Result<WebSocketMessage> WebSocket::read_message(Deadline deadline) {
  reader_.check_free();
  if (!pending_) decode_unread();
  std::optional<WebSocketMessage> message = std::exchange(pending_, std::nullopt);
  regulate_stream();
  if (!message && !failure_) {
    auto waited = reader_.wait(message, deadline);
    if (std::exchange(reader_is_awake_, false) && (broken_by_ || !unread_.empty())) {
      // Decoding continues at the latest when this task waits for something else.
      delivery_is_due_ = true;
      rearm();
    }
    if (!waited) {
      return std::move(waited.error()).with_context("WebSocket");
    }
  }
  if (message) return *std::move(message);
  return *failure_;
}

void WebSocket::set_message_sink(MessageSink& sink) {
  if (!reader_.set_sink(sink)) return;
  delivery_is_due_ = true;
  rearm();
}

void WebSocket::pause_reading() {
  reader_.pause();
  regulate_stream();
}

void WebSocket::resume_reading() {
  if (!reader_.resume() || !reader_.has_sink()) return;
  delivery_is_due_ = true;
  rearm();
}

bool WebSocket::wants_messages() const {
  if (reader_.has_sink()) return !reader_.is_paused();
  return !pending_.has_value() && !reader_is_awake_;
}

void WebSocket::on_bytes(std::span<const std::byte> bytes) {
  if (failure_) return;
  if (reader_.has_sink()) prefetch_for_write(&reader_.sink());
  life_.heard(now());
  if (unread_.empty() && wants_messages()) {
    decode(bytes);
    unread_.append(decoder_.rest());
  } else {
    unread_.append(bytes);
  }
  regulate_stream();
}

// Decodes while a reader wants messages; decoder_.rest() holds the remaining bytes.
void WebSocket::decode(std::span<const std::byte> bytes) {
  decoder_.feed(bytes);
  for (detail::WebSocketEvent event; !failure_ && wants_messages();) {
    const auto whole = decoder_.next(event);
    if (!whole) return refuse(whole.error());
    if (!*whole) return;
    handle(event);
  }
}

void WebSocket::decode_unread() {
  if (!unread_.empty()) {
    detail::ByteBuffer unread = std::move(unread_);
    decode(unread.bytes());
    unread.consume(unread.size() - decoder_.rest().size());
    if (!failure_ && !unread.empty()) unread_ = std::move(unread);
  }
  if (!broken_by_ || failure_ || !unread_.empty() || !wants_messages()) return;
  end_stream();
  end_reading(*broken_by_);
}

void WebSocket::regulate_stream() {
  if (failure_) return;
  const bool sink_is_paused = reader_.has_sink() && reader_.is_paused();
  stream_pause_.regulate(*stream_, sink_is_paused || unread_.size() >= unread_bytes_max,
                         unread_.empty());
}

void WebSocket::handle(const detail::WebSocketEvent& event) {
  switch (event.opcode) {
    case WebSocketOpcode::text:
      return handle_message(MessageKind::text, event.payload);
    case WebSocketOpcode::binary:
      return handle_message(MessageKind::binary, event.payload);
    case WebSocketOpcode::close:
      return handle_close(event.payload);
    case WebSocketOpcode::ping:
      return send_control(WebSocketOpcode::pong, event.payload);
    default:  // A pong is a sign of life, which on_bytes() has noted.
      return;
  }
}

void WebSocket::handle_message(MessageKind kind, std::span<const std::byte> payload) {
  if (state_ == State::closing) return;
  if (reader_.has_sink()) return reader_.sink().on_message(kind, payload);
  WebSocketMessage message{.kind = kind, .payload = std::string(text_of(payload))};
  if (!reader_.has_task()) {
    pending_ = std::move(message);
    return;
  }
  reader_.place() = std::move(message);
  reader_is_awake_ = true;
  reader_.wake_task();
}

void WebSocket::handle_close(std::span<const std::byte> payload) {
  const auto said = detail::read_websocket_close(payload);
  if (!said) return refuse(said.error());
  peer_close_ = WebSocketClose{.code = said->code, .reason = said->reason};
  // Section 5.5.1: the answer has the same code.
  if (state_ == State::open) {
    constexpr std::uint16_t no_code = 1005;
    send_close(said->code == no_code ? 1000 : said->code, {});
  }
  part();
  end_reading(Error(Code::unavailable, describe(*peer_close_)));
}

void WebSocket::refuse(const detail::WebSocketViolation& violation) {
  constexpr std::uint16_t too_big = 1009;
  if (state_ == State::open) send_close(violation.code, violation.reason);
  part();
  end_reading(Error(violation.code == too_big ? Code::resource_exhausted : Code::invalid_argument,
                    "WebSocket: the peer is closed with " + std::to_string(violation.code) + ": " +
                        violation.reason));
}

// Both sides are done: the connection ends as soon as the peer has received our close frame.
void WebSocket::part() {
  state_ = State::parting;
  closing_until_ = now() + options_.close_time_max;
  if (unsent_close_.empty()) stream_->finish_writing();
  // Further input is dropped; a paused stream would not see the end.
  stream_pause_.regulate(*stream_, /*has_enough=*/false, /*is_empty=*/true);
  rearm();
}

void WebSocket::end_reading(Error reason) {
  if (failure_) return;
  failure_ = std::move(reason);
  unread_ = detail::ByteBuffer();
  reader_.end();
  ended_.pulse();
  if (reader_.has_sink()) reader_.tell_end(*failure_);
}

void WebSocket::on_end(const Error& reason) {
  const bool has_broken = stream_->is_closed();
  if (!failure_) {
    broken_by_ = Error(reason).with_context("WebSocket: ended without a close frame");
    decode_unread();
  }
  // A peer that has only finished sending may have given its reason in unread input, and may not
  // have received all our output.
  const bool has_unsent = !unsent_close_.empty() || stream_->statistics().unsent_bytes > 0;
  const bool goes_on = state_ == State::open || (state_ == State::parting && has_unsent);
  if (state_ != State::ended && (has_broken || !goes_on)) end_stream();
}

void WebSocket::end_stream() {
  state_ = State::ended;
  if (!delivery_is_due_) Timer::cancel();
  stream_->close();
}

Result<void> WebSocket::check_writable(MessageKind kind, std::span<const std::byte> payload) const {
  if (state_ == State::ended && broken_by_) return *broken_by_;
  if (state_ == State::ended && failure_) return *failure_;
  if (state_ != State::open) {
    return Error(Code::failed_precondition, "WebSocket: nothing is written after the close");
  }
  if (kind == MessageKind::text && !is_utf8(text_of(payload))) {
    return Error(Code::invalid_argument, "WebSocket: a text is UTF-8; send this as binary");
  }
  return {};
}

// The frame lies in a buffer that the thread's next frame reuses.
std::span<const std::byte> WebSocket::make_frame(WebSocketOpcode opcode,
                                                 std::span<const std::byte> payload,
                                                 bool is_deflated) const {
  thread_local std::vector<std::byte> buffer;
  const std::size_t size = detail::websocket_header_bytes_max + payload.size();
  if (size <= kept_buffer_bytes && buffer.size() > kept_buffer_bytes) {
    std::vector<std::byte>().swap(buffer);
  }
  if (buffer.size() < size) buffer.resize(size);
  const auto header = std::span(buffer).first<detail::websocket_header_bytes_max>();
  std::size_t header_size = 0;
  if (role_ == Role::client) {
    const WebSocketMask mask = detail::random_websocket_mask();
    header_size =
        detail::encode_websocket_header(opcode, payload.size(), &mask, header, is_deflated);
    detail::apply_websocket_mask(payload, mask, 0, buffer.data() + header_size);
  } else {
    header_size =
        detail::encode_websocket_header(opcode, payload.size(), nullptr, header, is_deflated);
    if (!payload.empty()) {
      std::memcpy(buffer.data() + header_size, payload.data(), payload.size());
    }
  }
  return std::span(buffer).first(header_size + payload.size());
}

std::span<const std::byte> WebSocket::make_message(MessageKind kind,
                                                   std::span<const std::byte> payload) const {
  const auto opcode = kind == MessageKind::text ? WebSocketOpcode::text : WebSocketOpcode::binary;
  if (deflate_ && payload.size() >= options_.deflate_bytes_min) {
    const auto deflated = detail::deflate_websocket_payload(*deflate_, payload);
    if (deflated) return make_frame(opcode, *deflated, /*is_deflated=*/true);
  }
  return make_frame(opcode, payload);
}

Result<void> WebSocket::write_message(MessageKind kind, std::span<const std::byte> payload,
                                      Deadline deadline) {
  if (auto writable = check_writable(kind, payload); !writable) return writable;
  const detail::CallCount::Inside inside(calls_);
  return stream_->write_all(make_message(kind, payload), deadline);
}

Result<void> WebSocket::try_write_message(MessageKind kind, std::span<const std::byte> payload) {
  if (auto writable = check_writable(kind, payload); !writable) return writable;
  return stream_->try_write(make_message(kind, payload));
}

// A peer that takes no output gets no pongs either.
void WebSocket::send_control(WebSocketOpcode opcode, std::span<const std::byte> payload) {
  if (state_ != State::open) return;
  static_cast<void>(stream_->try_write(make_frame(opcode, payload)));
}

void WebSocket::send_close(std::uint16_t code, std::string_view reason) {
  std::array<std::byte, 2 + reason_bytes_max> payload;
  payload[0] = static_cast<std::byte>(code >> 8);
  payload[1] = static_cast<std::byte>(code & 0xff);
  const std::string_view text = cut_utf8(reason, reason_bytes_max);
  std::ranges::copy(bytes_of(text), payload.begin() + 2);
  const auto frame = make_frame(WebSocketOpcode::close, std::span(payload).first(2 + text.size()));
  const auto sent = stream_->try_write(frame);
  const bool has_no_room = !sent && sent.error().code() == Code::resource_exhausted;
  if (has_no_room) unsent_close_.assign(frame.begin(), frame.end());
}

bool WebSocket::send_unsent_close() {
  const auto sent = stream_->try_write(unsent_close_);
  if (!sent && sent.error().code() == Code::resource_exhausted) return false;
  unsent_close_.clear();
  if (state_ == State::parting) stream_->finish_writing();
  return true;
}

void WebSocket::close(std::uint16_t code, std::string_view reason) {
  check(detail::is_websocket_close_code(code), "a close code is one that may be sent");
  if (state_ != State::open) return;
  send_close(code, reason);
  state_ = State::closing;
  closing_until_ = now() + options_.close_time_max;
  // Unread messages are dropped: the peer's answer comes behind them.
  pending_.reset();
  reader_.resume();
  delivery_is_due_ = true;
  rearm();
}

Result<void> WebSocket::finish(Deadline deadline) {
  check(!reader_.has_task(), "no task reads from a WebSocket that is finished");
  close();
  const detail::CallCount::Inside inside(calls_);
  while (state_ == State::closing) {
    if (auto waited = ended_.wait(deadline); !waited) {
      return std::move(waited.error()).with_context("WebSocket");
    }
  }
  if (!peer_close_) return failure_ ? *failure_ : *broken_by_;
  while (state_ == State::parting && !unsent_close_.empty()) {
    if (auto waited = ended_.wait(deadline); !waited) {
      return std::move(waited.error()).with_context("WebSocket");
    }
  }
  if (state_ != State::parting) return {};
  auto flushed = stream_->flush(deadline);
  // A peer that has ended meanwhile has read what it wanted.
  return state_ == State::parting ? flushed : Result<void>();
}

void WebSocket::arm(Deadline deadline) {
  coroutine::Scheduler::current().timers().arm(*this, deadline);
}

void WebSocket::rearm() {
  if (delivery_is_due_) return arm(Deadline::passed());
  if (state_ == State::open) return arm(Deadline::after(options_.keepalive_interval));
  if (state_ == State::ended) return;
  const Deadline end = Deadline::at(closing_until_);
  arm(unsent_close_.empty() ? end : earlier(end, Deadline::after(close_retry_delay)));
}

void WebSocket::deliver() {
  if (pending_ && reader_.has_sink() && !reader_.is_paused()) {
    const WebSocketMessage message = *std::exchange(pending_, std::nullopt);
    reader_.sink().on_message(message.kind, bytes_of(message.payload));
  }
  if (wants_messages() && !failure_) decode_unread();
  if (failure_ && reader_.has_sink()) reader_.tell_end(*failure_);
  regulate_stream();
}

void WebSocket::on_time() {
  if (std::exchange(delivery_is_due_, false)) {
    deliver();
    return rearm();
  }
  if (state_ == State::open) return look_for_life();
  if (state_ == State::ended) return;
  if (!unsent_close_.empty() && send_unsent_close()) ended_.pulse();
  if (now() < closing_until_) return rearm();
  give_up_closing();
}

void WebSocket::give_up_closing() {
  stream_->close();
  state_ = State::ended;
  ended_.pulse();
  end_reading(Error(Code::unavailable, "WebSocket: the peer does not answer the close frame"));
}

void WebSocket::look_for_life() {
  // A paused stream reads nothing, so silence proves nothing.
  if (stream_pause_.is_paused()) return arm(Deadline::after(options_.keepalive_interval));
  switch (life_.look(stream_->statistics(), now(), options_.keepalive_interval)) {
    case PeerLife::State::alive:
      return arm(Deadline::at(life_.silent_at(options_.keepalive_interval)));
    case PeerLife::State::silent:
      send_control(WebSocketOpcode::ping, {});
      return arm(Deadline::after(options_.keepalive_patience));
    case PeerLife::State::gone:
      stream_->close();
      state_ = State::ended;
      return end_reading(life_.gone(now()).with_context("WebSocket"));
  }
}

}  // namespace corolane::net
