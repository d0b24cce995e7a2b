// SPDX-License-Identifier: MIT
#include "rpc/http/detail/http_caller.h"

#include <chrono>
#include <string>
#include <utility>

#include "coroutine/scheduler.h"
#include "net/http/gzip.h"
#include "rpc/http/detail/connect_error.h"

namespace corolane::rpc::detail {
namespace {

// A shorter text fits into one packet as it is.
constexpr std::size_t zipped_bytes_min = 1024;

// A piece that a larger message has made is not kept.
constexpr std::size_t kept_piece_bytes = 16 * 1024;

// A browser opens its EventSource at the first bytes of the answer, so a stream that has nothing to
// say yet begins with a comment this soon.
constexpr std::chrono::seconds first_silence_max(1);

// Proxies end connections that are silent for longer, mostly after 30 or 60 seconds; the standard
// suggests a comment "every 15 seconds or so".
constexpr std::chrono::seconds silence_max(15);

constexpr std::string_view comment_event = ": \n\n";

}  // namespace

void HttpCaller::open(net::HttpExchange& exchange, Format format, Door door,
                      net::AddressShares& of_addresses) {
  exchange_ = &exchange;
  format_ = format;
  net::HttpResponse& response = exchange.response();
  response.content_type = type_of(format);
  if (format.framing == Framing::events && response.headers.find("Cache-Control").empty()) {
    response.headers.add("Cache-Control", "no-store");
  }
  // Says that envelopes may be compressed; those of small messages are not.
  if (format.framing == Framing::envelopes && format.accepts_gzip) {
    response.headers.add("Connect-Content-Encoding", "gzip");
  }
  door_ = door;
  peer_ = exchange.request().peer;
  peer_identity_ = exchange.request().peer_identity;
  principal_ = {};
  if (door == Door::clients) shares = {of_addresses, exchange.peer_endpoint()};
}

void HttpCaller::follow() {
  exchange_->watch(*this);
  if (format_.framing == Framing::events) keep_alive_after(first_silence_max);
}

void HttpCaller::close() {
  exchange_ = nullptr;
  call_ = nullptr;
  shares = {};
  of_principal.give_back_call();
  of_principal = {};
  if (piece_.capacity() > kept_piece_bytes) piece_ = {};
}

void HttpCaller::client_left() { call_->cancel(); }

void HttpCaller::keep_alive_after(Duration silence) {
  coroutine::Scheduler::current().timers().arm(*this, Deadline::after(silence));
}

void HttpCaller::on_silence() {
  // A client that has not taken earlier events needs no comment now.
  const auto written = exchange_->try_write(comment_event);
  if (written || written.error().code() != Code::unavailable) keep_alive_after(silence_max);
}

void HttpCaller::add(Call& call) {
  call_ = &call;
  shares.take();
}

void HttpCaller::remove(Call& call) {
  shares.give_back();
  if (exchange_ != nullptr) {
    // The client has left before the call began.
    refuse(call.id(), Error(Code::cancelled, "the client has left"));
  }
  host_.give_back(*this);
}

void HttpCaller::refuse(std::uint64_t, const Error& error) {
  put_error(error.maybe_executed() ? error : Error(error).with_not_executed(), nullptr);
  Timer::cancel();
  std::exchange(exchange_, nullptr)->answer_at_once();
}

// A stream's client reads an error only in the envelope or event that ends the stream.
void HttpCaller::put_error(const Error& error, const Headers* trailers) {
  if (format_.is_stream()) return put_end(&error, trailers);
  answer_with(error, exchange_->response());
}

Result<void> HttpCaller::log_in() {
  auto principal = host_.log_in(exchange_->request());
  if (!principal) return std::move(principal.error());
  principal_ = *std::move(principal);
  of_principal = host_.principals().enter(principal_.id);
  const bool may_call = of_principal.has_room_to_call();
  of_principal.take_call();
  if (may_call) return {};
  return Error(Code::resource_exhausted, "the calls of this principal are running already");
}

Result<void> HttpCaller::append(const google::protobuf::Message& message, std::string& text) {
  const std::size_t bytes_max = host_.reply_bytes_max();
  if (message.ByteSizeLong() > bytes_max) {
    return Error(Code::resource_exhausted,
                 "the reply is larger than " + std::to_string(bytes_max) + " bytes");
  }
  if (format_.codec == Codec::json) {
    if (auto written = host_.writer().write(message, text); !written) {
      return Error(Code::internal, written.error().message());
    }
  } else if (!message.AppendToString(&text)) {
    return Error(Code::internal, "it cannot be serialised");
  }
  return {};
}

Result<void> HttpCaller::send_reply(std::uint64_t, const google::protobuf::Message& message,
                                    Beside beside, Deadline) {
  std::string& body = exchange_->response().body;
  if (!format_.is_stream()) {
    if (auto appended = append(message, body); !appended) return appended;
    put(beside);
    if (is_worth_zipping(body)) {
      std::string zipped;
      net::gzip(body, zipped);
      body.swap(zipped);
      exchange_->response().headers.add("Content-Encoding", "gzip");
      exchange_->response().headers.add("Vary", "Accept-Encoding");
    }
  } else {
    if (auto enveloped = put_in_piece(message); !enveloped) return enveloped;
    put(beside);
    put_end(nullptr, beside.trailers);
    body.insert(0, piece_);
  }
  answer();
  return {};
}

Result<void> HttpCaller::send_item(std::uint64_t, const google::protobuf::Message& message,
                                   Beside beside, Deadline deadline) {
  if (auto done = put_in_piece(message); !done) return done;
  put(beside);
  auto written = exchange_->write(piece_, deadline);
  if (format_.framing == Framing::events) keep_alive_after(silence_max);
  return written;
}

// Makes `piece_`.
Result<void> HttpCaller::put_in_piece(const google::protobuf::Message& message) {
  return format_.framing == Framing::events ? put_in_event(message) : put_in_envelope(message);
}

// JSON escapes the ends of lines, which would end the data.
Result<void> HttpCaller::put_in_event(const google::protobuf::Message& message) {
  piece_ = "data: ";
  if (auto appended = append(message, piece_); !appended) return appended;
  piece_ += "\n\n";
  return {};
}

Result<void> HttpCaller::put_in_envelope(const google::protobuf::Message& message) {
  std::string text;
  if (auto appended = append(message, text); !appended) return appended;
  const bool zips = is_worth_zipping(text);
  if (zips) {
    std::string zipped;
    net::gzip(text, zipped);
    text.swap(zipped);
  }
  piece_.clear();
  append_envelope_head(piece_, zips ? envelope_is_zipped : 0, text.size());
  piece_ += text;
  return {};
}

bool HttpCaller::is_worth_zipping(std::string_view text) const {
  return format_.accepts_gzip && text.size() >= zipped_bytes_min;
}

void HttpCaller::put_items(std::string_view body, bool may_be_zipped, std::size_t bytes_max) {
  while (!body.empty()) {
    const auto envelope = take_envelope(body);
    if (!envelope) return call_->fail_items(envelope.error());
    std::string opened;
    if (envelope->is_zipped) {
      if (!may_be_zipped) return call_->fail_items(unexpected_gzip());
      auto unzipped = net::gunzip(envelope->message, bytes_max, opened);
      if (!unzipped) return call_->fail_items(unzipped.error());
      bytes_max -= opened.size();
    }
    call_->put_item(
        net::bytes_of(envelope->is_zipped ? std::string_view(opened) : envelope->message));
  }
  call_->end_items();
}

Result<void> HttpCaller::parse_item(std::span<const std::byte> item,
                                    google::protobuf::Message& message) {
  if (format_.codec == Codec::proto) return Caller::parse_item(item, message);
  message.Clear();
  return host_.reader().read(net::text_of(item), message);
}

void HttpCaller::send_end(std::uint64_t, Beside beside, Deadline) {
  put(beside);
  if (format_.is_stream()) {
    put_end(nullptr, beside.trailers);
  } else if (format_.codec == Codec::json) {
    exchange_->response().body = "{}";
  }
  answer();
}

void HttpCaller::send_error(std::uint64_t, const Error& error, Beside beside, Deadline) {
  put(beside);
  put_error(error, beside.trailers);
  answer();
}

// Headers go before the body; so do the trailers of a unary call.
void HttpCaller::put(Beside beside) {
  net::HttpResponse& response = exchange_->response();
  if (beside.headers != nullptr) put_headers(*beside.headers, "", response);
  if (beside.trailers != nullptr && !format_.is_stream()) {
    put_headers(*beside.trailers, "trailer-", response);
  }
}

// The envelope that ends a stream has its outcome and its trailers.
void HttpCaller::put_end(const Error* error, const Headers* trailers) {
  if (format_.framing == Framing::events) return put_last_event(error, trailers);
  std::string end = "{";
  if (error != nullptr) {
    end += R"("error":)";
    append_connect_error(end, *error);
  }
  if (trailers != nullptr && !trailers->empty()) {
    end += error == nullptr ? R"("metadata":)" : R"(,"metadata":)";
    append_headers_json(end, *trailers);
  }
  end += '}';
  std::string& body = exchange_->response().body;
  body.clear();
  append_envelope_head(body, envelope_ends_stream, end.size());
  body += end;
}

// The name of the event is the outcome. "error" would be taken for EventSource's own event.
void HttpCaller::put_last_event(const Error* error, const Headers* trailers) {
  std::string& body = exchange_->response().body;
  body = error == nullptr ? "event: end\ndata: " : "event: failure\ndata: ";
  if (error == nullptr) {
    body += "{}";
  } else {
    append_connect_error(body, *error);
  }
  if (trailers != nullptr && !trailers->empty()) {
    body.pop_back();
    body += error == nullptr ? R"("metadata":)" : R"(,"metadata":)";
    append_headers_json(body, *trailers);
    body += '}';
  }
  body += "\n\n";
}

void HttpCaller::answer() {
  Timer::cancel();
  net::HttpExchange& exchange = *std::exchange(exchange_, nullptr);
  exchange.answer();
}

}  // namespace corolane::rpc::detail
