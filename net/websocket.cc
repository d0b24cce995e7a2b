#include "net/websocket.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "net/crypto.h"

namespace corolane::net {
namespace {

using detail::WebSocketMask;
using detail::WebSocketOpcode;

// How much waits here for who is busy; when there is more, the stream pauses.
constexpr std::size_t unread_bytes_max = 16 * 1024;
// The thread's buffer for frames is given back when a larger one was needed.
constexpr std::size_t kept_buffer_bytes = 64 * 1024;
// Of a close frame: 125 bytes with the code.
constexpr std::size_t reason_bytes_max = 123;

// Section 5.3: from a strong source of entropy, anew for each frame; which costs a system call for
// each, unless they come in heaps.
WebSocketMask new_mask() {
  thread_local std::array<std::byte, 1024> heap;
  thread_local std::size_t left = 0;
  if (left == 0) {
    fill_with_random_bytes(heap);
    left = heap.size();
  }
  WebSocketMask mask;
  left -= mask.size();
  std::memcpy(mask.data(), heap.data() + left, mask.size());
  return mask;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// At most so many bytes, and no half character at the end.
std::string_view cut_text(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t size = bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return text.substr(0, size);
}

std::string describe(const WebSocketClose& close) {
  std::string text = "WebSocket: closed by peer with " + std::to_string(close.code);
  if (!close.reason.empty()) text += ": " + close.reason;
  return text;
}

}  // namespace

WebSocket::WebSocket(std::unique_ptr<Stream> stream, Role role, const WebSocketOptions& options,
                     std::span<const std::byte> early)
    : Timer([](Timer& timer) { static_cast<WebSocket&>(timer).on_time(); }),
      stream_(std::move(stream)),
      role_(role),
      options_(options),
      decoder_(role == Role::server, {.message_bytes_max = options.message_bytes_max,
                                      .fragment_count_max = options.fragment_count_max}),
      heard_at_(now()) {
  unread_.append(early);
  if (!early.empty()) delivery_is_due_ = true;
  stream_->set_read_sink(*this);
  rearm();
}

WebSocket::~WebSocket() { abort(); }

void WebSocket::abort() {
  aborted_ = true;
  state_ = State::ended;
  sink_ = nullptr;
  Timer::cancel();
  if (!failure_) failure_ = Error(Code::unavailable, "WebSocket: closed");
  readable_.notify_all();
  stream_->close();
}

Result<WebSocketMessage> WebSocket::read_message(Deadline deadline) {
  check(sink_ == nullptr, "a WebSocket with a sink has no other reader");
  check(readable_.empty(), "a WebSocket has one reader at a time");
  if (!pending_) decode_unread();
  std::optional<WebSocketMessage> message = std::exchange(pending_, std::nullopt);
  regulate_stream();
  if (!message && !failure_) {
    const detail::CallCount::Inside inside(calls_);
    if (auto waited = readable_.wait_or_fail(deadline, &message); !waited) {
      return std::move(waited.error()).with_context("WebSocket");
    }
  }
  if (message) return *std::move(message);
  return *failure_;
}

void WebSocket::set_message_sink(MessageSink& sink) {
  check(readable_.empty(), "no task reads from a WebSocket that is given a sink");
  if (aborted_) return;
  sink_ = &sink;
  delivery_is_due_ = true;
  rearm();
}

void WebSocket::pause_reading() {
  paused_ = true;
  regulate_stream();
}

void WebSocket::resume_reading() {
  if (!std::exchange(paused_, false) || sink_ == nullptr) return;
  delivery_is_due_ = true;
  rearm();
}

bool WebSocket::wants_messages() const {
  return sink_ != nullptr ? !paused_ : !pending_.has_value();
}

void WebSocket::on_bytes(std::span<const std::byte> bytes) {
  if (failure_) return;
  heard_at_ = now();
  asked_for_life_ = false;
  if (unread_.empty() && wants_messages()) {
    decode(bytes);
    unread_.append(decoder_.rest());
  } else {
    unread_.append(bytes);
  }
  regulate_stream();
}

// As long as somebody wants it; what is left is the decoder's rest().
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
  if (broken_by_ && unread_.empty() && wants_messages()) end_reading(*broken_by_);
}

void WebSocket::regulate_stream() {
  if (failure_) return;
  const bool has_enough = (sink_ != nullptr && paused_) || unread_.size() >= unread_bytes_max;
  if (has_enough && !stream_paused_) {
    stream_paused_ = true;
    stream_->pause_reading();
  } else if (!has_enough && stream_paused_ && unread_.empty()) {
    stream_paused_ = false;
    stream_->resume_reading();
  }
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
    default:  // A pong is a sign of life, and has been taken for one.
      return;
  }
}

void WebSocket::handle_message(MessageKind kind, std::span<const std::byte> payload) {
  if (state_ == State::closing) return;
  if (sink_ != nullptr) return sink_->on_message(kind, payload);
  WebSocketMessage message{.kind = kind, .payload = std::string(text_of(payload))};
  if (readable_.empty()) {
    pending_ = std::move(message);
    return;
  }
  *static_cast<std::optional<WebSocketMessage>*>(readable_.front_slot()) = std::move(message);
  readable_.notify_one();
}

void WebSocket::handle_close(std::span<const std::byte> payload) {
  const auto said = detail::read_websocket_close(payload);
  if (!said) return refuse(said.error());
  peer_close_ = WebSocketClose{.code = said->code, .reason = said->reason};
  // Section 5.5.1: it is answered with the same code.
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

// Both sides have said that they are done: the connection ends as soon as the peer has heard so.
void WebSocket::part() {
  state_ = State::parting;
  stream_->finish_writing();
  // What may still come is dropped; a stream that pauses would not see the end.
  if (std::exchange(stream_paused_, false)) stream_->resume_reading();
  rearm();
}

void WebSocket::end_reading(Error reason) {
  if (failure_) return;
  failure_ = std::move(reason);
  unread_ = detail::ByteBuffer();
  readable_.notify_all();
  if (sink_ != nullptr) std::exchange(sink_, nullptr)->on_end(*failure_);
}

void WebSocket::on_end(const Error& reason) {
  state_ = State::ended;
  if (!delivery_is_due_) Timer::cancel();
  stream_->close();
  if (failure_) return;
  broken_by_ = Error(reason).with_context("WebSocket: ended without a close frame");
  decode_unread();
}

Result<void> WebSocket::check_writable(MessageKind kind, std::span<const std::byte> payload) const {
  if (broken_by_) return *broken_by_;
  if (state_ == State::ended && failure_) return *failure_;
  if (state_ != State::open) {
    return Error(Code::failed_precondition, "WebSocket: nothing is written after the close");
  }
  if (kind == MessageKind::text && !detail::is_utf8(payload)) {
    return Error(Code::invalid_argument, "WebSocket: a text is UTF-8; send this as binary");
  }
  return {};
}

// In a buffer that the thread's next frame reuses.
std::span<const std::byte> WebSocket::make_frame(WebSocketOpcode opcode,
                                                 std::span<const std::byte> payload) const {
  thread_local std::vector<std::byte> buffer;
  const std::size_t size = detail::websocket_header_bytes_max + payload.size();
  if (size <= kept_buffer_bytes && buffer.size() > kept_buffer_bytes) {
    std::vector<std::byte>().swap(buffer);
  }
  if (buffer.size() < size) buffer.resize(size);
  const auto header = std::span(buffer).first<detail::websocket_header_bytes_max>();
  std::size_t header_size = 0;
  if (role_ == Role::client) {
    const WebSocketMask mask = new_mask();
    header_size = detail::encode_websocket_header(opcode, payload.size(), &mask, header);
    detail::apply_websocket_mask(payload, mask, 0, buffer.data() + header_size);
  } else {
    header_size = detail::encode_websocket_header(opcode, payload.size(), nullptr, header);
    if (!payload.empty()) {
      std::memcpy(buffer.data() + header_size, payload.data(), payload.size());
    }
  }
  return std::span(buffer).first(header_size + payload.size());
}

Result<void> WebSocket::write_message(MessageKind kind, std::span<const std::byte> payload,
                                      Deadline deadline) {
  if (auto writable = check_writable(kind, payload); !writable) return writable;
  const detail::CallCount::Inside inside(calls_);
  const auto opcode = kind == MessageKind::text ? WebSocketOpcode::text : WebSocketOpcode::binary;
  return stream_->write_all(make_frame(opcode, payload), deadline);
}

Result<void> WebSocket::try_write_message(MessageKind kind, std::span<const std::byte> payload) {
  if (auto writable = check_writable(kind, payload); !writable) return writable;
  const auto opcode = kind == MessageKind::text ? WebSocketOpcode::text : WebSocketOpcode::binary;
  return stream_->try_write(make_frame(opcode, payload));
}

// A peer that takes no output gets no answers to its pings either.
void WebSocket::send_control(WebSocketOpcode opcode, std::span<const std::byte> payload) {
  if (state_ != State::open) return;
  static_cast<void>(stream_->try_write(make_frame(opcode, payload)));
}

void WebSocket::send_close(std::uint16_t code, std::string_view reason) {
  std::array<std::byte, 2 + reason_bytes_max> payload;
  payload[0] = static_cast<std::byte>(code >> 8);
  payload[1] = static_cast<std::byte>(code & 0xff);
  const std::string_view text = cut_text(reason, reason_bytes_max);
  std::ranges::copy(bytes_of(text), payload.begin() + 2);
  send_control(WebSocketOpcode::close, std::span(payload).first(2 + text.size()));
}

void WebSocket::close(std::uint16_t code, std::string_view reason) {
  check(detail::is_websocket_close_code(code), "a close code is one that may be sent");
  if (state_ != State::open) return;
  send_close(code, reason);
  state_ = State::closing;
  // What nobody asked for is dropped: behind it comes the answer.
  pending_.reset();
  paused_ = false;
  delivery_is_due_ = true;
  rearm();
}

void WebSocket::arm(Deadline deadline) {
  coroutine::Scheduler::current().timers().arm(*this, deadline);
}

void WebSocket::rearm() {
  if (delivery_is_due_) return arm(Deadline::passed());
  if (state_ == State::open) return arm(Deadline::after(options_.keepalive_interval));
  if (state_ != State::ended) arm(Deadline::after(options_.close_time_max));
}

void WebSocket::deliver() {
  if (pending_ && sink_ != nullptr && !paused_) {
    const WebSocketMessage message = *std::exchange(pending_, std::nullopt);
    sink_->on_message(message.kind, bytes_of(message.payload));
  }
  if (wants_messages() && !failure_) decode_unread();
  if (failure_ && sink_ != nullptr) std::exchange(sink_, nullptr)->on_end(*failure_);
  regulate_stream();
}

void WebSocket::on_time() {
  if (std::exchange(delivery_is_due_, false)) {
    deliver();
    return rearm();
  }
  switch (state_) {
    case State::open:
      return look_for_life();
    case State::closing:
      stream_->close();
      state_ = State::ended;
      return end_reading(
          Error(Code::unavailable, "WebSocket: the peer does not answer the close frame"));
    case State::parting:
      state_ = State::ended;
      return stream_->close();
    case State::ended:
      return;
  }
}

void WebSocket::look_for_life() {
  const Duration silence = now() - heard_at_;
  // Who does not read hears nothing.
  if (stream_paused_) return arm(Deadline::after(options_.keepalive_interval));
  if (silence < options_.keepalive_interval) {
    return arm(Deadline::at(heard_at_ + options_.keepalive_interval));
  }
  if (asked_for_life_) {
    stream_->close();
    state_ = State::ended;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(silence);
    return end_reading(Error(Code::unavailable, "WebSocket: the peer was silent for " +
                                                    std::to_string(seconds.count()) + " s"));
  }
  asked_for_life_ = true;
  send_control(WebSocketOpcode::ping, {});
  arm(Deadline::after(options_.keepalive_patience));
}

}  // namespace corolane::net
