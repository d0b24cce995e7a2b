// SPDX-License-Identifier: MIT
#include "net/http/detail/http_connection.h"

#include <algorithm>
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

coroutine::TimerWheel& timers() { return coroutine::Scheduler::current().timers(); }

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
      peer_(to_string(stream_->peer_endpoint())) {}

void HttpConnection::start() {
  wait_for_request();
  stream_->set_read_sink(*this);
}

// --- on the loop's stack

void HttpConnection::on_bytes(std::span<const std::byte> bytes) {
  if (state_ == State::closing || state_ == State::ended) return;
  if (state_ == State::serving) {
    input_.append(bytes);
    return regulate_reading();
  }
  if (input_.empty()) {
    const std::size_t taken = read(bytes);
    input_.append(bytes.subspan(taken));
  } else {
    input_.append(bytes);
    read_kept();
  }
  after_reading();
  regulate_reading();
}

void HttpConnection::on_end(const Error&) {
  peer_ended_ = true;
  if (state_ != State::serving) return end();
  task_.cancel();
}

void HttpConnection::on_time() {
  // A peer that keeps taking queued output may receive all of it.
  const bool takes_answers =
      state_ == State::closing && output_progress_.has_grown(stream_->statistics());
  if (takes_answers && now() < closing_until_) {
    return timers().arm(*this, Deadline::after(linger_time_max));
  }
  const bool is_too_slow = state_ == State::reading && exchange_ != nullptr;
  return is_too_slow ? refuse(408) : end();
}

void HttpConnection::regulate_reading() {
  if (state_ == State::ended || stream_->is_closed()) return;
  const bool is_full = state_ == State::serving && input_.size() > options_.pipelined_bytes_max;
  pause_.regulate(*stream_, is_full, !is_full);
}

std::size_t HttpConnection::read(std::span<const std::byte> bytes) {
  if (bytes.empty()) return 0;
  const bool is_new = exchange_ == nullptr;
  if (is_new) {
    exchange_ = host_.take_exchange();
    exchange_->parser.begin(options_.limits, exchange_->request);
  }
  const std::size_t taken = exchange_->parser.put(bytes);
  if (is_new && exchange_->parser.state() == HttpRequestParser::State::needs_more) {
    timers().arm(*this, Deadline::after(options_.limits.request_time_max));
  }
  return taken;
}

// True when a whole request is there.
bool HttpConnection::read_kept() {
  input_.consume(read(input_.bytes()));
  return exchange_ != nullptr && exchange_->parser.state() == HttpRequestParser::State::is_done;
}

void HttpConnection::after_reading() {
  switch (exchange_->parser.state()) {
    case HttpRequestParser::State::needs_more:
      if (exchange_->parser.take_expectation()) write("HTTP/1.1 100 Continue\r\n\r\n");
      return;
    case HttpRequestParser::State::is_refused:
      return refuse(exchange_->parser.refusal());
    case HttpRequestParser::State::is_done:
      return begin_serving();
  }
}

void HttpConnection::begin_serving() {
  Timer::cancel();
  auto task = host_.begin_serving(*this);
  if (!task) return refuse(503);
  task_ = *task;
  has_task_ = true;
  shares.take();
  state_ = State::serving;
}

void HttpConnection::wait_for_request() {
  if (input_.capacity() > 0) input_ = {};
  state_ = State::reading;
  timers().arm(*this, Deadline::after(options_.limits.idle_time_max));
}

void HttpConnection::refuse(unsigned status) {
  host_.request_refused();
  HttpResponse response = bare_response(status);
  if (status == 503) response.headers.add("Retry-After", "1");
  std::string text;
  append_head(text, response, {.date = host_.date()});
  write(text.append(response.body));
  finish_writing();
}

void HttpConnection::write(std::string_view text) {
  if (!stream_->try_write(bytes_of(text))) write_failed_ = true;
}

void HttpConnection::finish_writing() {
  if (exchange_ != nullptr) host_.give_back(std::move(exchange_));
  input_ = {};
  state_ = State::closing;
  if (write_failed_ || stream_->is_closed()) return end();
  stream_->finish_writing();
  regulate_reading();
  static_cast<void>(output_progress_.has_grown(stream_->statistics()));
  closing_until_ = now() + options_.limits.response_time_max;
  timers().arm(*this, Deadline::after(linger_time_max));
}

void HttpConnection::leave() {
  is_leaving_ = true;
  if (state_ == State::reading && exchange_ == nullptr) finish_writing();
}

void HttpConnection::close() {
  if (has_task_) task_.cancel();
  end();
}

void HttpConnection::end() {
  if (state_ == State::ended) return;
  state_ = State::ended;
  sending_since_ = TimePoint::max();
  Timer::cancel();
  stream_->close();
  if (!has_task_) host_.ended(*this);
}

// --- in the task of the connection

void HttpConnection::serve() {
  bool goes_on = true;
  while (goes_on && state_ == State::serving) {
    const bool is_last = !answer();
    if (state_ != State::serving) break;
    if (is_last) {
      // The last answer may be long, and the peer slow.
      sending_since_ = now();
      static_cast<void>(stream_->flush(Deadline::after(options_.limits.response_time_max)));
      if (state_ == State::serving) finish_writing();
      break;
    }
    host_.give_back(std::move(exchange_));
    goes_on = read_kept();
    regulate_reading();
    if (goes_on) host_.request_read();
  }
  has_task_ = false;
  sending_since_ = TimePoint::max();
  shares.give_back();
  task_ = {};
  if (state_ == State::ended) return host_.ended(*this);
  idle_since_ = now();
  host_.became_idle();
  if (state_ != State::serving) return;
  if (peer_ended_) return finish_writing();
  if (exchange_ == nullptr) {
    wait_for_request();
  } else {
    state_ = State::reading;
    after_reading();
  }
  regulate_reading();
}

// False when no further request may follow.
bool HttpConnection::answer() {
  HttpExchange& exchange = *exchange_;
  exchange.request.peer = peer_;
  exchange.request.peer_identity = stream_->peer_identity();
  exchange.request.is_of_newcomer = shares.is_newcomer();
  reset(exchange.response);
  host_.answer(exchange.request, exchange.response);
  ++answered_count_;
  if (!is_sendable(exchange.response)) exchange.response = bare_response(500);

  const bool keep_alive = exchange.parser.keeps_alive() && !is_leaving_;
  exchange.head.clear();
  const bool has_body = append_head(exchange.head, exchange.response,
                                    {.to_head = exchange.request.method == "HEAD",
                                     .keep_alive = keep_alive,
                                     .date = host_.date()});
  const Deadline deadline = Deadline::after(options_.limits.response_time_max);
  // Head and body are queued together or not at all: a peer would take the head of the next answer
  // for the missing body.
  const auto text =
      stream_->room_to_write(exchange.head.size() + (has_body ? exchange.response.body.size() : 0));
  std::ranges::copy(bytes_of(exchange.head), text.begin());
  if (has_body) {
    std::ranges::copy(bytes_of(exchange.response.body),
                      text.begin() + static_cast<std::ptrdiff_t>(exchange.head.size()));
  }
  sending_since_ = now();
  auto written = stream_->write_all(text, deadline);
  // A cancelled task still queues its answer. It is the last one then, since nothing would slow
  // down further answers.
  const bool has_room = written.has_value();
  // An idle connection is closed when its peer has finished: the kernel must have all answers by
  // then. It gets the small ones at the end of this turn.
  if (written && exchange.response.body.size() > small_body_bytes) {
    written = stream_->flush(deadline);
  }
  sending_since_ = TimePoint::max();
  if (!written && written.error().code() != Code::cancelled) write_failed_ = true;
  return keep_alive && has_room && !write_failed_;
}

}  // namespace corolane::net::detail
