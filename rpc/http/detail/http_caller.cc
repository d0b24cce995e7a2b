// SPDX-License-Identifier: MIT
#include "rpc/http/detail/http_caller.h"

#include <string>
#include <utility>

#include "rpc/http/detail/connect_error.h"

namespace corolane::rpc::detail {

void HttpCaller::open(net::HttpExchange& exchange, Format format, Door door,
                      net::AddressShares& of_addresses) {
  exchange_ = &exchange;
  format_ = format;
  exchange.response().content_type = type_of(format);
  door_ = door;
  peer_ = exchange.request().peer;
  peer_identity_ = exchange.request().peer_identity;
  principal_ = {};
  if (door == Door::clients) shares = {of_addresses, exchange.peer_endpoint()};
}

void HttpCaller::close() {
  exchange_ = nullptr;
  call_ = nullptr;
  shares = {};
}

void HttpCaller::client_left() { call_->cancel(); }

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
  std::exchange(exchange_, nullptr)->answer_at_once();
}

// A stream's client reads an error only in the envelope that ends the stream.
void HttpCaller::put_error(const Error& error, const Headers* trailers) {
  if (format_.is_stream) return put_end(&error, trailers);
  answer_with(error, exchange_->response());
}

Result<void> HttpCaller::log_in() {
  auto principal = host_.log_in(exchange_->request());
  if (!principal) return std::move(principal.error());
  principal_ = *std::move(principal);
  return {};
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
  if (auto appended = append(message, exchange_->response().body); !appended) return appended;
  put(beside);
  answer();
  return {};
}

Result<void> HttpCaller::send_item(std::uint64_t, const google::protobuf::Message& message,
                                   Beside beside, Deadline deadline) {
  std::string text;
  if (auto appended = append(message, text); !appended) return appended;
  put(beside);
  piece_.clear();
  append_envelope_head(piece_, 0, text.size());
  piece_ += text;
  return exchange_->write(piece_, deadline);
}

void HttpCaller::send_end(std::uint64_t, Beside beside, Deadline) {
  put(beside);
  if (format_.is_stream) {
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
  if (beside.trailers != nullptr && !format_.is_stream) {
    put_headers(*beside.trailers, "trailer-", response);
  }
}

// The envelope that ends a stream has its outcome and its trailers.
void HttpCaller::put_end(const Error* error, const Headers* trailers) {
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

void HttpCaller::answer() {
  net::HttpExchange& exchange = *std::exchange(exchange_, nullptr);
  exchange.answer();
}

}  // namespace corolane::rpc::detail
