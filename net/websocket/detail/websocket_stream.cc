// SPDX-License-Identifier: MIT
#include "net/websocket/detail/websocket_stream.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/base/text.h"
#include "coroutine/scheduler.h"
#include "net/detail/byte_buffer.h"
#include "net/http/detail/http_request_parser.h"
#include "net/http/detail/http_wire.h"
#include "net/parting_streams.h"
#include "net/websocket/websocket_upgrade.h"

namespace corolane::net::detail {
namespace {

using namespace std::chrono_literals;

// How long the peer has to read the last frame, and to answer it.
constexpr Duration farewell_time_max = 1s;
// How far a stream reads ahead of a busy task; above that the inner stream pauses.
constexpr std::size_t early_payload_bytes_max = 16 * 1024;
// What a close frame has room for behind its code.
constexpr std::size_t close_reason_bytes_max = 123;

// RFC 6455, section 7.4.1.
constexpr std::uint16_t finished_code = 1000;
constexpr std::uint16_t no_code = 1005;
constexpr std::uint16_t unacceptable_data = 1003;

}  // namespace

struct WebSocketStream::Request {
  HttpRequest request = {};
  HttpRequestParser parser = {};
  ByteBuffer unread = {};
  WebSocketUpgradeOptions options = {};
};

WebSocketStream::WebSocketStream(std::unique_ptr<Stream> inner,
                                 std::shared_ptr<WebSocketShared> shared)
    : Timer([](Timer& timer) { static_cast<WebSocketStream&>(timer).on_time(); }),
      shared_(std::move(shared)),
      inner_(std::move(inner)),
      held_(inner_->account()),
      is_client_(false),
      state_(State::shaking_hands),
      plain_(shared_->buffers, "WebSocket read") {}

WebSocketStream::WebSocketStream(std::unique_ptr<Stream> inner,
                                 std::shared_ptr<WebSocketShared> shared,
                                 std::span<const std::byte> early,
                                 const std::optional<WebSocketDeflate>& deflate)
    : Timer([](Timer& timer) { static_cast<WebSocketStream&>(timer).on_time(); }),
      shared_(std::move(shared)),
      inner_(std::move(inner)),
      held_(inner_->account()),
      is_client_(true),
      state_(State::open),
      plain_(shared_->buffers, "WebSocket read") {
  begin_decoding(deflate);
  inner_->set_read_sink(*this);
  if (!early.empty()) on_bytes(early);
}

void WebSocketStream::begin_decoding(const std::optional<WebSocketDeflate>& deflate) {
  deflate_ = deflate;
  decoder_.emplace(
      /*expects_mask=*/!is_client_,
      WebSocketDecoder::Limits{.message_bytes_max = shared_->options.deflated_message_bytes_max,
                               .fragment_count_max = WebSocketOptions{}.fragment_count_max,
                               .gives_pieces = true},
      /*inflates=*/deflate.has_value());
}

WebSocketStream::~WebSocketStream() {
  close();
  if (!owes_farewell_ || inner_->is_closed() || coroutine::Scheduler::current_or_null() == nullptr)
    return;
  PartingStreams* const parting = inner_->parting_streams();
  if (parting != nullptr) parting->take(std::move(inner_), {}, farewell_time_max);
}

std::string WebSocketStream::name() const {
  return "WebSocket with " + to_string(inner_->peer_endpoint());
}

void WebSocketStream::shake_hands(Host& host, Deadline deadline) {
  host_ = &host;
  request_ = std::make_unique<Request>();
  request_->options.origins = shared_->options.origins;
  request_->options.deflates = shared_->options.deflates;
  request_->options.http.body_bytes_max = 0;
  request_->parser.begin(request_->options.http, request_->request);
  coroutine::Scheduler::current().timers().arm(*this, deadline);
  inner_->set_read_sink(*this);
}

void WebSocketStream::note_dropped() {
  ++shared_->statistics.failed_count;
  shared_->statistics.last_failure = name() + ": dropped in favour of a newer handshake";
}

void WebSocketStream::read_request(std::span<const std::byte> bytes) {
  Request& read = *request_;
  read.unread.append(bytes);
  read.unread.consume(read.parser.put(read.unread.bytes()));
  held_.set(read.unread.capacity());
  using Parsing = HttpRequestParser::State;
  if (read.parser.state() == Parsing::needs_more) return;
  if (read.parser.state() == Parsing::is_refused) {
    return refuse_request(bare_response(read.parser.refusal()));
  }
  const auto answer = answer_websocket(read.request, read.options);
  if (!answer) return refuse_request(answer.error());
  Timer::cancel();
  static_cast<void>(inner_->try_write(bytes_of(answer->text)));
  begin_decoding(answer->deflate);
  state_ = State::open;
  ++shared_->statistics.opened_count;
  const auto request = std::move(request_);
  std::exchange(host_, nullptr)->opened(*this);
  if (state_ == State::open && !request->unread.empty()) on_bytes(request->unread.bytes());
}

void WebSocketStream::refuse_request(const HttpResponse& response) {
  std::string text;
  static_cast<void>(append_head(text, response, {}));
  static_cast<void>(inner_->try_write(bytes_of(text + response.body)));
  const std::string why = response.body.substr(0, response.body.find('\n'));
  fail_to_open(Error(Code::invalid_argument,
                     "refused with " + std::to_string(response.status) + ": " + why));
}

void WebSocketStream::fail_to_open(Error reason) {
  failure_ = std::move(reason).with_context(name());
  ++shared_->statistics.failed_count;
  shared_->statistics.last_failure = failure_->message();
  inner_->finish_writing();
  part();
  host_->failed(*this);
}

void WebSocketStream::part() {
  state_ = State::parting;
  owes_farewell_ = true;
  farewell_ends_ = Deadline::after(farewell_time_max);
  coroutine::Scheduler::current().timers().arm(*this, farewell_ends_);
}

void WebSocketStream::on_bytes(std::span<const std::byte> bytes) {
  if (state_ == State::shaking_hands) return read_request(bytes);
  if (state_ != State::open) return;
  decoder_->feed(bytes);
  WebSocketEvent event;
  while (state_ == State::open) {
    const auto has_event = decoder_->next(event);
    if (!has_event) {
      refuse(has_event.error());
      break;
    }
    if (!*has_event) break;
    handle(event);
  }
  regulate_inner();
}

void WebSocketStream::handle(const WebSocketEvent& event) {
  switch (event.opcode) {
    case WebSocketOpcode::binary:
      if (event.payload.empty()) return;
      if (plain_.feeds_sink() && !plain_.is_paused()) {
        plain_.sink().on_bytes(event.payload);
      } else {
        plain_.keep(event.payload);
      }
      return;
    case WebSocketOpcode::text:
      return refuse({.code = unacceptable_data, .reason = "this flow of bytes has no texts"});
    case WebSocketOpcode::ping:
      return send_pong(event.payload);
    case WebSocketOpcode::close:
      return handle_close(event.payload);
    case WebSocketOpcode::pong:
    case WebSocketOpcode::continuation:
      return;
  }
}

void WebSocketStream::handle_close(std::span<const std::byte> payload) {
  const auto close = read_websocket_close(payload);
  if (!close) return refuse(close.error());
  std::string why = name() + ": closed by peer";
  const bool is_usual = close->code == finished_code || close->code == no_code;
  if (!is_usual) why.append(" (").append(std::to_string(close->code)).append(")");
  if (!close->reason.empty()) why.append(": ").append(close->reason);
  if (!is_finishing_) send_close(close->code == no_code ? finished_code : close->code, "");
  has_finished_ = true;
  inner_->finish_writing();
  part();
  end(Error(Code::unavailable, std::move(why)));
}

void WebSocketStream::refuse(const WebSocketViolation& violation) {
  if (!is_finishing_) send_close(violation.code, violation.reason);
  inner_->finish_writing();
  part();
  end(Error(Code::invalid_argument, name() + ": " + violation.reason));
}

void WebSocketStream::end(Error reason) {
  if (!failure_) failure_ = std::move(reason);
  if (calls_.is_inside()) inner_->close();
  if (plain_.has_ended()) return;
  plain_.end();
  // Not in this call, which may be one of the sink.
  if (plain_.has_sink()) end_turn_soon();
}

void WebSocketStream::on_end(const Error& reason) {
  switch (state_) {
    case State::shaking_hands:
      fail_to_open(Error(reason.code(), "during the handshake: " + reason.message()));
      return on_time();
    case State::parting:
      return on_time();
    case State::open:
      state_ = State::closed;
      inner_->close();
      end(Error(Code::unavailable, reason.message()).with_context(name() + ": no close frame"));
      return;
    case State::closed:
      return;
  }
}

void WebSocketStream::close() {
  state_ = State::closed;
  host_ = nullptr;
  plain_.close();
  held_.set(0);
  if (!failure_) failure_ = Error(Code::unavailable, name() + ": closed");
  Timer::cancel();
  // The destructor sees to a close frame that is under way, unless tasks wait to write.
  if (!owes_farewell_ || calls_.is_inside()) inner_->close();
}

Result<std::size_t> WebSocketStream::read_some(std::span<std::byte> buffer, Deadline deadline) {
  auto count = plain_.read_some(buffer, deadline);
  if (!count) return std::move(count.error()).with_context(name());
  if (*count == 0 && !has_finished_) return *failure_;
  regulate_inner();
  return *count;
}

void WebSocketStream::set_read_sink(ReadSink& sink) {
  if (plain_.set_sink(sink)) end_turn_soon();
}

void WebSocketStream::release_read_sink(std::span<const std::byte> unread) {
  plain_.release_sink(unread);
  regulate_inner();
}

void WebSocketStream::pause_reading() {
  plain_.pause();
  regulate_inner();
}

void WebSocketStream::resume_reading() {
  if (plain_.resume() && plain_.has_sink()) end_turn_soon();
}

void WebSocketStream::regulate_inner() {
  held_.set(plain_.early_capacity());
  if (state_ != State::open) return;
  const bool has_enough = plain_.is_paused() || plain_.early_size() >= early_payload_bytes_max;
  inner_pause_.regulate(*inner_, has_enough, !plain_.has_early());
}

void WebSocketStream::end_turn_soon() {
  coroutine::Scheduler::current().timers().arm(*this, Deadline::passed());
}

Result<void> WebSocketStream::check_writable() const {
  if (failure_) return *failure_;
  if (!is_finishing_) return {};
  return Error(Code::failed_precondition, name() + ": nothing is written after the end");
}

std::span<std::byte> WebSocketStream::room_to_write(std::size_t size) {
  const std::size_t header_size = websocket_header_size(size, is_client_);
  room_ = inner_->room_to_write(header_size + size);
  return room_.subspan(header_size);
}

std::span<const std::byte> WebSocketStream::frame_of(WebSocketOpcode opcode,
                                                     std::span<const std::byte> payload,
                                                     bool is_deflated) {
  const std::size_t header_size = websocket_header_size(payload.size(), is_client_);
  const bool is_in_room =
      room_.size() == header_size + payload.size() && room_.data() + header_size == payload.data();
  if (!is_in_room) {
    const std::span<std::byte> room = room_to_write(payload.size());
    if (!payload.empty()) std::memcpy(room.data(), payload.data(), payload.size());
  }
  std::array<std::byte, websocket_header_bytes_max> header;
  if (is_client_) {
    const WebSocketMask mask = random_websocket_mask();
    encode_websocket_header(opcode, payload.size(), &mask, header, is_deflated);
    const auto body = room_.subspan(header_size);
    apply_websocket_mask(body, mask, 0, body.data());
  } else {
    encode_websocket_header(opcode, payload.size(), nullptr, header, is_deflated);
  }
  std::memcpy(room_.data(), header.data(), header_size);
  return std::exchange(room_, {});
}

std::span<const std::byte> WebSocketStream::message_of(std::span<const std::byte> bytes) {
  const WebSocketNetwork::Options& options = shared_->options;
  const bool is_long = bytes.size() >= options.deflate_bytes_min;
  // The peer may have the same limit.
  if (deflate_ && is_long && bytes.size() <= options.deflated_message_bytes_max) {
    const auto deflated = deflate_websocket_payload(*deflate_, bytes);
    if (deflated) return frame_of(WebSocketOpcode::binary, *deflated, /*is_deflated=*/true);
  }
  return frame_of(WebSocketOpcode::binary, bytes);
}

Result<void> WebSocketStream::write_all(std::span<const std::byte> bytes, Deadline deadline) {
  if (auto writable = check_writable(); !writable) return writable;
  const CallCount::Inside inside(calls_);
  if (bytes.empty()) return inner_->write_all({}, deadline);
  return inner_->write_all(message_of(bytes), deadline);
}

Result<void> WebSocketStream::try_write(std::span<const std::byte> bytes) {
  if (auto writable = check_writable(); !writable) return writable;
  if (bytes.empty()) return inner_->try_write({});
  return inner_->try_write(message_of(bytes));
}

Result<void> WebSocketStream::append(std::span<const std::byte> bytes) {
  if (auto writable = check_writable(); !writable) return writable;
  return inner_->append(message_of(bytes));
}

Result<void> WebSocketStream::flush(Deadline deadline) {
  if (failure_) return *failure_;
  const CallCount::Inside inside(calls_);
  return inner_->flush(deadline);
}

// A peer that takes no output gets no pongs either.
void WebSocketStream::send_pong(std::span<const std::byte> payload) {
  if (is_finishing_) return;
  static_cast<void>(inner_->try_write(frame_of(WebSocketOpcode::pong, payload)));
}

void WebSocketStream::send_close(std::uint16_t code, std::string_view reason) {
  std::array<std::byte, 2 + close_reason_bytes_max> payload;
  payload[0] = static_cast<std::byte>(code >> 8);
  payload[1] = static_cast<std::byte>(code & 0xff);
  const std::string_view text = cut_utf8(reason, close_reason_bytes_max);
  std::ranges::copy(bytes_of(text), payload.begin() + 2);
  static_cast<void>(
      inner_->append(frame_of(WebSocketOpcode::close, std::span(payload).first(2 + text.size()))));
  is_finishing_ = true;
}

// The inner stream is finished by the answer of the peer, or closed by its owner.
void WebSocketStream::finish_writing() {
  if (failure_ || is_finishing_) return;
  send_close(finished_code, "");
}

void WebSocketStream::on_time() {
  switch (state_) {
    case State::shaking_hands:
      return fail_to_open(Error(Code::deadline_exceeded, "the handshake took too long"));
    case State::parting:
      if (host_ != nullptr) {
        state_ = State::closed;
        inner_->close();
        return std::exchange(host_, nullptr)->ended(*this);
      }
      if (farewell_ends_.has_passed()) inner_->close();
      break;
    case State::open:
    case State::closed:
      break;
  }
  deliver();
}

void WebSocketStream::deliver() {
  if (plain_.has_sink() && plain_.has_early() && !plain_.is_paused()) plain_.deliver_early();
  if (state_ == State::parting && !inner_->is_closed()) {
    coroutine::Scheduler::current().timers().arm(*this, farewell_ends_);
  }
  regulate_inner();
  if (plain_.owes_end(failure_.has_value())) return plain_.tell_end(*failure_);
}

}  // namespace corolane::net::detail
