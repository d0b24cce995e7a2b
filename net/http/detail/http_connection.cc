// SPDX-License-Identifier: MIT
#include "net/http/detail/http_connection.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "net/http/detail/http_wire.h"

namespace corolane::net::detail {
namespace {

using namespace std::chrono_literals;

// How long a peer that is still sending is read after the last answer: closing a socket with unread
// bytes resets the connection, and the peer would lose that answer.
constexpr Duration linger_time_max = 2s;

// The kernel takes this much at once from a connection without unsent output.
constexpr std::size_t small_body_bytes = 16 * 1024;

// How long a peer may take nothing of its last answers: a phone loses its cell for some seconds.
constexpr Duration stall_time_max = 10s;

// How long a request is still served whose peer has finished sending: it may only have closed its
// half of the connection, and wait for the answer.
constexpr Duration half_closed_time_max = 1s;

// No further request is begun while more output is unsent. It is looked at in this interval.
constexpr std::size_t unsent_bytes_max = 64 * 1024;
constexpr Duration room_look_interval = 10ms;

// A peer that takes the last answers must take this much within response_time_max.
constexpr std::uint64_t progress_bytes_min = 64 * 1024;

coroutine::TimerWheel& timers() { return coroutine::Scheduler::current().timers(); }

void append_chunk_size(std::string& text, std::size_t size) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
  text.append(digits.data(), end).append("\r\n");
}

void reset(HttpResponse& response) {
  response.status = 200;
  response.content_type = "text/plain; charset=utf-8";
  response.body.clear();
  response.headers.clear();
}

}  // namespace

HttpConnection::HttpConnection(Host& host, const HttpServer::Options& options, std::uint64_t id,
                               std::unique_ptr<Stream> stream)
    : Timer([](Timer& timer) { static_cast<HttpConnection&>(timer).on_time(); }),
      host_(host),
      options_(options),
      id_(id),
      stream_(std::move(stream)),
      held_(stream_->account()),
      peer_(to_string(stream_->peer_endpoint())) {}

void HttpConnection::start() {
  wait_for_request();
  stream_->set_read_sink(*this);
}

// --- on the loop's stack

void HttpConnection::on_bytes(std::span<const std::byte> bytes) {
  if (state_ == State::closing || state_ == State::ended) return;
  if (state_ == State::serving || !input_.empty()) {
    input_.append(bytes);
  } else {
    const std::size_t taken = read(bytes);
    input_.append(bytes.subspan(taken));
  }
  go_on();
  regulate_reading();
}

void HttpConnection::on_end(const Error&) {
  peer_ended_ = true;
  if (state_ == State::serving) {
    if (stream_->is_closed()) return note_that_client_left();
    return timers().arm(*this, Deadline::after(half_closed_time_max));
  }
  const bool has_requests =
      waits_for_room_ || (state_ == State::reading && messages_ == nullptr && !input_.empty());
  if (has_requests && !stream_->is_closed()) return;
  const bool has_answers = !stream_->is_closed() && stream_->statistics().unsent_bytes > 0;
  if (!has_answers) return end();
  if (state_ == State::reading) finish_writing();
}

void HttpConnection::on_time() {
  if (state_ == State::closing) return on_time_closing();
  if (state_ == State::serving) return note_that_client_left();
  if (waits_for_room_ && now() >= room_awaited_until_) return end();
  if (waits_for_room_ || (messages_ == nullptr && !input_.empty())) {
    go_on();
    return regulate_reading();
  }
  return messages_ == nullptr ? end() : refuse(408);
}

// A peer that keeps taking its answers may receive all of them.
void HttpConnection::on_time_closing() {
  const StreamStatistics statistics = stream_->statistics();
  const bool has_grown = output_progress_.has_grown(statistics);
  if (has_grown) progress_at_ = now();
  if (statistics.acknowledged_bytes >= closing_acknowledged_bytes_ + progress_bytes_min) {
    closing_acknowledged_bytes_ = statistics.acknowledged_bytes;
    closing_until_ = now() + options_.limits.response_time_max;
  }
  const bool may_still_take =
      statistics.unsent_bytes > 0 && answered_count_ > 0 && now() - progress_at_ < stall_time_max;
  if ((!has_grown && !may_still_take) || now() >= closing_until_) return end();
  timers().arm(*this, Deadline::after(linger_time_max));
}

void HttpConnection::regulate_reading() {
  count_held();
  if (state_ == State::ended || stream_->is_closed()) return;
  const bool is_waiting = state_ == State::serving || waits_for_room_;
  const bool is_full = is_waiting && input_.size() > options_.pipelined_bytes_max;
  pause_.regulate(*stream_, is_full, !is_full);
}

void HttpConnection::count_held() {
  const std::size_t waiting = input_.capacity();
  held_.set(messages_ == nullptr ? waiting
                                 : waiting + messages_->request.body.capacity() +
                                       messages_->response.body.capacity());
}

std::size_t HttpConnection::read(std::span<const std::byte> bytes) {
  if (bytes.empty()) return 0;
  const bool is_new = messages_ == nullptr;
  if (is_new) {
    messages_ = host_.take_messages();
    messages_->parser.begin(options_.limits, messages_->request);
  }
  const std::size_t taken = messages_->parser.put(bytes);
  if (is_new && messages_->parser.state() == HttpRequestParser::State::needs_more) {
    timers().arm(*this, Deadline::after(options_.limits.request_time_max));
  }
  return taken;
}

void HttpConnection::go_on() {
  is_inside_ = true;
  while (state_ == State::reading) {
    input_.consume(read(input_.bytes()));
    const auto state =
        messages_ == nullptr ? HttpRequestParser::State::needs_more : messages_->parser.state();
    if (state == HttpRequestParser::State::is_refused) {
      refuse(messages_->parser.refusal());
    } else if (state == HttpRequestParser::State::is_done) {
      if (!has_room_for_an_answer()) break;
      begin_serving();
    } else if (peer_ended_) {
      finish_writing();
    } else {
      if (messages_ == nullptr)
        wait_for_request();
      else if (messages_->parser.take_expectation())
        write_at_once("HTTP/1.1 100 Continue\r\n\r\n");
      break;
    }
  }
  is_inside_ = false;
}

// When false, the timer looks again.
bool HttpConnection::has_room_for_an_answer() {
  const bool has_room = stream_->statistics().unsent_bytes <= unsent_bytes_max;
  if (!has_room && !waits_for_room_) {
    room_awaited_until_ = now() + options_.limits.response_time_max;
  }
  waits_for_room_ = !has_room;
  if (!has_room) timers().arm(*this, Deadline::after(room_look_interval));
  return has_room;
}

void HttpConnection::begin_serving() {
  Timer::cancel();
  if (peer_ended_) timers().arm(*this, Deadline::after(half_closed_time_max));
  state_ = State::serving;
  awaits_answer_ = true;
  client_left_ = false;
  in_pieces_ = false;
  messages_->request.peer = peer_;
  messages_->request.peer_identity = stream_->peer_identity();
  reset(messages_->response);
  host_.begin(*this);
}

void HttpConnection::note_that_client_left() {
  if (std::exchange(client_left_, true)) return;
  task_.cancel();
  if (watcher_ != nullptr) watcher_->client_left();
}

void HttpConnection::answer_at_once() {
  if (state_ == State::serving && !stream_->try_write(make_answer())) write_failed_ = true;
  settle(keeps_alive_);
}

// The exchange is over.
void HttpConnection::settle(bool goes_on) {
  Timer::cancel();
  awaits_answer_ = false;
  sending_since_ = TimePoint::max();
  task_ = {};
  watcher_ = nullptr;
  ++answered_count_;
  host_.give_back(std::move(messages_));
  count_held();
  idle_since_ = now();
  host_.answered(*this);
  if (state_ == State::ended) return host_.ended(*this);
  if (!goes_on || is_leaving_ || write_failed_) return finish_writing();
  state_ = State::reading;
  if (is_inside_) return;
  if (!input_.empty()) {
    // The next request may need more stack than the task has that was just answered.
    timers().arm(*this, Deadline::passed());
  } else if (peer_ended_) {
    finish_writing();
  } else {
    wait_for_request();
  }
  regulate_reading();
}

void HttpConnection::wait_for_request() {
  if (input_.capacity() > 0) input_ = {};
  count_held();
  timers().arm(*this, Deadline::after(options_.limits.idle_time_max));
}

void HttpConnection::refuse(unsigned status) {
  host_.request_refused();
  HttpResponse response = bare_response(status);
  if (status == 503) response.headers.add("Retry-After", "1");
  std::string text;
  append_head(text, response, {.date = host_.date()});
  write_at_once(text.append(response.body));
  finish_writing();
}

void HttpConnection::write_at_once(std::string_view text) {
  if (!stream_->try_write(bytes_of(text))) write_failed_ = true;
}

void HttpConnection::finish_writing() {
  if (messages_ != nullptr) host_.give_back(std::move(messages_));
  input_ = {};
  state_ = State::closing;
  if (write_failed_ || stream_->is_closed()) return end();
  stream_->finish_writing();
  regulate_reading();
  const StreamStatistics statistics = stream_->statistics();
  static_cast<void>(output_progress_.has_grown(statistics));
  closing_acknowledged_bytes_ = statistics.acknowledged_bytes;
  progress_at_ = now();
  closing_until_ = progress_at_ + options_.limits.response_time_max;
  timers().arm(*this, Deadline::after(linger_time_max));
}

void HttpConnection::leave() {
  is_leaving_ = true;
  if (state_ == State::reading && messages_ == nullptr && input_.empty()) finish_writing();
}

void HttpConnection::end() {
  if (state_ == State::ended) return;
  state_ = State::ended;
  sending_since_ = TimePoint::max();
  Timer::cancel();
  stream_->close();
  if (awaits_answer_) return note_that_client_left();
  host_.ended(*this);
}

// --- in the task that answers

void HttpConnection::bind(coroutine::TaskRef task) {
  task_ = task;
  if (client_left_) task_.cancel();
}

void HttpConnection::watch(Watcher& watcher) {
  watcher_ = &watcher;
  if (client_left_) watcher.client_left();
}

Result<void> HttpConnection::write(std::string_view piece, Deadline deadline) {
  if (state_ != State::serving) return Error(Code::unavailable, "the client has left");
  std::string& text = messages_->head;
  text.clear();
  append_piece_to(text, piece);
  sending_since_ = now();
  auto written = stream_->write_all(bytes_of(text), deadline);
  sending_since_ = TimePoint::max();
  return written;
}

Result<void> HttpConnection::try_write(std::string_view piece) {
  if (state_ != State::serving) return Error(Code::unavailable, "the client has left");
  if (sending_since_ != TimePoint::max()) {
    return Error(Code::resource_exhausted, "the client has not taken the last piece");
  }
  const bool was_in_pieces = in_pieces_;
  std::string text;
  append_piece_to(text, piece);
  auto written = stream_->try_write(bytes_of(text));
  if (!written) in_pieces_ = was_in_pieces;
  return written;
}

void HttpConnection::append_piece_to(std::string& text, std::string_view piece) {
  if (!in_pieces_) {
    in_pieces_ = true;
    is_chunked_ = messages_->parser.reads_chunks();
    append_head_to(text);
  }
  if (piece.empty()) return;  // It would end the body.
  if (is_chunked_) append_chunk_size(text, piece.size());
  text += piece;
  if (is_chunked_) text += "\r\n";
}

void HttpConnection::answer() {
  if (state_ != State::serving) return settle(false);
  const std::size_t body_bytes = messages_->response.body.size();
  const auto text = make_answer();
  // The output has it now, and a slow peer may take long.
  if (body_bytes > small_body_bytes) std::string().swap(messages_->response.body);
  count_held();
  const Deadline deadline = Deadline::after(options_.limits.response_time_max);
  sending_since_ = now();
  auto written = stream_->write_all(text, deadline);
  // Without room the answer is queued all the same. It is the last one then, since nothing would
  // slow down further answers.
  const bool has_room = written.has_value();
  // An idle connection is closed when its peer has finished: the kernel must have all answers by
  // then. It gets the small ones at the end of this turn.
  if (written && body_bytes > small_body_bytes) written = stream_->flush(deadline);
  if (!written && written.error().code() == Code::unavailable) write_failed_ = true;
  settle(keeps_alive_ && has_room);
}

// False when no body may follow.
bool HttpConnection::append_head_to(std::string& text) {
  HttpMessages& messages = *messages_;
  if (!is_sendable(messages.response)) messages.response = bare_response(500);
  keeps_alive_ = messages.parser.keeps_alive() && !is_leaving_ && (!in_pieces_ || is_chunked_);
  return append_head(text, messages.response,
                     {.to_head = messages.request.method == "HEAD",
                      .keep_alive = keeps_alive_,
                      .in_pieces = in_pieces_,
                      .is_chunked = in_pieces_ && is_chunked_,
                      .date = host_.date()});
}

std::span<const std::byte> HttpConnection::make_answer() {
  HttpMessages& messages = *messages_;
  std::string& head = messages.head;
  const std::string& body = messages.response.body;
  head.clear();
  if (!in_pieces_) {
    const bool has_body = append_head_to(head);
    return put_in_output(head, has_body ? std::string_view(body) : std::string_view());
  }
  if (!is_chunked_) return put_in_output(head, body);
  if (!body.empty()) append_chunk_size(head, body.size());
  head.append(body).append(body.empty() ? "0\r\n\r\n" : "\r\n0\r\n\r\n");
  return put_in_output(head, {});
}

// Head and body are queued together or not at all: a peer would take the head of the next answer
// for the missing body.
std::span<const std::byte> HttpConnection::put_in_output(std::string_view head,
                                                         std::string_view body) {
  const auto text = stream_->room_to_write(head.size() + body.size());
  std::ranges::copy(bytes_of(head), text.begin());
  std::ranges::copy(bytes_of(body), text.begin() + static_cast<std::ptrdiff_t>(head.size()));
  return text;
}

}  // namespace corolane::net::detail
