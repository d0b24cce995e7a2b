// SPDX-License-Identifier: MIT
#include "rpc/http/http_face.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http/gzip.h"
#include "rpc/http/detail/connect_error.h"
#include "rpc/http/detail/http_caller.h"
#include "rpc/http/detail/http_listing.h"
#include "rpc/http/detail/http_question.h"
#include "rpc/http/json.h"
#include "rpc/server/detail/dispatcher.h"
#include "rpc/wire/request_extension.h"
#include "rpc/wire/wire.pb.h"

namespace corolane::rpc {
namespace {

namespace pb = google::protobuf;
using detail::answer_with;
using detail::HttpCaller;

// The number of calls that a busy server has at a time.
constexpr std::size_t idle_caller_count_max = 1024;

}  // namespace

class HttpFace::Impl final : private HttpCaller::Host {
 public:
  Impl(Server& server, Options options) : server_(server), options_(std::move(options)) {}

  void begin(net::HttpExchange& exchange);
  bool serves_here() const { return server_.dispatcher().serves_here(); }

 private:
  // Each answers the request, or has it answered by a call.
  bool answer_to_preflight(const net::HttpRequest& request, net::HttpResponse& response) const;
  void list(const net::HttpRequest& request, net::HttpResponse& response);
  bool call(net::HttpExchange& exchange);

  bool may_call_from(std::string_view origin) const;
  const std::string& listing(detail::ListingFormat format);
  Result<void> take_on(HttpCaller& caller, detail::ServedMethod& served,
                       const detail::Question& question, const net::HttpRequest& request);
  Result<bool> read(const detail::Question& question, const Method& method,
                    std::string_view object_id, const net::HttpRequest& request,
                    pb::Message& message, RequestExtension& extension);

  Result<Principal> log_in(const net::HttpRequest& request) override;
  detail::PrincipalCounts& principals() override { return server_.principals(); }
  JsonReader& reader() override { return reader_; }
  JsonWriter& writer() override { return writer_; }
  std::size_t reply_bytes_max() const override { return options_.reply_bytes_max; }
  HttpCaller& take_caller();
  void give_back(HttpCaller& caller) override;

  Server& server_;
  const Options options_;
  JsonReader reader_;
  JsonWriter writer_;
  std::string got_;                      // The decoded message of a GET, until it is parsed.
  std::string opened_;                   // The content of a gzip, until it is parsed.
  std::array<std::string, 3> listings_;  // By format; empty until it is asked for.
  std::vector<std::unique_ptr<HttpCaller>> idle_;
};

void HttpFace::Impl::begin(net::HttpExchange& exchange) {
  const net::HttpRequest& request = exchange.request();
  net::HttpResponse& response = exchange.response();
  if (answer_to_preflight(request, response)) return exchange.answer_at_once();
  if (options_.files != nullptr && options_.files->answer(request, response)) {
    return exchange.answer_at_once();
  }
  if (request.path() == "/" && options_.lists_services) {
    list(request, response);
    return exchange.answer_at_once();
  }
  if (!call(exchange)) exchange.answer_at_once();
}

// Adds what a browser must read before it lets a script of another origin see the answer. True when
// the request only asks whether such a script may call.
bool HttpFace::Impl::answer_to_preflight(const net::HttpRequest& request,
                                         net::HttpResponse& response) const {
  const std::string_view origin = request.header("Origin");
  if (origin.empty()) return false;
  const bool is_preflight =
      request.method == "OPTIONS" && !request.header("Access-Control-Request-Method").empty();
  response.headers.add("Vary", "Origin");
  if (!may_call_from(origin)) {
    if (!is_preflight) return false;
    answer_with(Error(Code::permission_denied,
                      "web pages of " + std::string(origin) + " may not call this server"),
                response);
    return true;
  }
  response.headers.add("Access-Control-Allow-Origin", origin);
  if (!is_preflight) {
    response.headers.add("Access-Control-Expose-Headers", "*");
    return false;
  }
  response.status = 204;
  response.headers.add("Access-Control-Allow-Methods", "GET, POST");
  // A star stands for every header but this one.
  response.headers.add("Access-Control-Allow-Headers", "*, Authorization");
  response.headers.add("Access-Control-Max-Age", "7200");
  return true;
}

bool HttpFace::Impl::may_call_from(std::string_view origin) const {
  return std::ranges::any_of(options_.origins, [&](const std::string& allowed) {
    return allowed == "*" || allowed == origin;
  });
}

void HttpFace::Impl::list(const net::HttpRequest& request, net::HttpResponse& response) {
  using detail::ListingFormat;
  if (request.method != "GET" && request.method != "HEAD") {
    response.headers.add("Allow", "GET, HEAD");
    return answer_with(Error(Code::unimplemented, "the list is read with GET or HEAD"), 405,
                       response);
  }
  ListingFormat format = ListingFormat::text;
  if (request.header("Accept").find("text/html") != std::string_view::npos) {
    format = ListingFormat::html;
    response.content_type = "text/html; charset=utf-8";
  }
  if (request.query("format") == "json") {
    format = ListingFormat::json;
    response.content_type = "application/json";
  }
  response.body = listing(format);
}

const std::string& HttpFace::Impl::listing(detail::ListingFormat format) {
  std::string& text = listings_[static_cast<std::size_t>(format)];
  if (text.empty()) text = detail::list_services(server_, format, options_.door);
  return text;
}

// True when a call will answer the request; otherwise the response is made.
bool HttpFace::Impl::call(net::HttpExchange& exchange) {
  const net::HttpRequest& request = exchange.request();
  net::HttpResponse& response = exchange.response();
  const std::string_view path = request.path();
  detail::ServedMethod* const served =
      path.starts_with('/') ? server_.dispatcher().methods().find(path.substr(1)) : nullptr;
  if (served == nullptr || (options_.door == Door::clients && !served->is_for_clients)) {
    const Error error(Code::unimplemented,
                      "no method " + std::string(path) +
                          (options_.lists_services ? "; GET / lists the methods" : ""));
    answer_with(error, 404, response);
    return false;
  }
  // A URL with a token, and its answer, are for its client alone.
  if (detail::has_token_in_query(request)) response.headers.add("Cache-Control", "no-store");
  detail::Question question;
  if (!detail::read_question(request, *served->method, question, got_, response)) return false;
  HttpCaller& caller = take_caller();
  caller.open(exchange, question.format, options_.door, server_.call_shares());
  if (auto taken = take_on(caller, *served, question, request); !taken) {
    caller.refuse(0, taken.error());
    give_back(caller);
    return true;
  }
  caller.follow();
  return true;
}

Result<void> HttpFace::Impl::take_on(HttpCaller& caller, detail::ServedMethod& served,
                                     const detail::Question& question,
                                     const net::HttpRequest& request) {
  const TimePoint arrived_at = now();
  const auto deadline = detail::deadline_of(request, *served.method, options_.door, arrived_at);
  if (!deadline) return deadline.error();
  const auto object_id = detail::object_id_of(request);
  if (!object_id) return object_id.error();
  const auto taken = server_.dispatcher().take_on(
      caller, served,
      {.payload_bytes = question.is_zipped ? options_.request_bytes_max : question.message.size(),
       .deadline = *deadline,
       .at = arrived_at},
      [&](pb::Message& message, RequestExtension& extension) {
        return read(question, *served.method, *object_id, request, message, extension);
      });
  if (!taken) return taken.error();
  if (served.method->client_streaming) {
    caller.put_items(question.message, question.is_zipped, options_.request_bytes_max);
  }
  return {};
}

// A detail::ReadRequest.
Result<bool> HttpFace::Impl::read(const detail::Question& question, const Method& method,
                                  std::string_view object_id, const net::HttpRequest& request,
                                  pb::Message& message, RequestExtension& extension) {
  std::string_view bytes = question.message;
  bool is_zipped = question.is_zipped;
  if (question.format.framing == detail::Framing::envelopes && !method.client_streaming) {
    if (bytes.empty()) return Error(Code::unimplemented, "the request has no message");
    const auto envelope = detail::take_envelope(bytes);
    if (!envelope) return envelope.error();
    if (!bytes.empty()) {
      return Error(Code::unimplemented, "the request has more than one message");
    }
    if (envelope->is_zipped && !is_zipped) return detail::unexpected_gzip();
    is_zipped = envelope->is_zipped;
    bytes = envelope->message;
  }
  if (is_zipped && !method.client_streaming) {
    opened_.clear();
    if (auto opened = net::gunzip(bytes, options_.request_bytes_max, opened_); !opened) {
      return opened.error();
    }
    bytes = opened_;
  }
  message.Clear();
  if (method.client_streaming) {
    // Its messages follow.
  } else if (question.format.codec == detail::Codec::json) {
    if (auto done = reader_.read(bytes, message); !done) return done.error();
  } else if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Error(Code::invalid_argument, "not a valid " + message.GetDescriptor()->full_name() +
                                             ": do both sides have the same proto?");
  }
  extension.Clear();
  const std::string_view parent = request.header("traceparent");
  if (!parent.empty()) set_trace(parse_traceparent(parent).value_or(TraceContext{}), extension);
  if (!object_id.empty()) extension.mutable_object()->set_id(object_id.data(), object_id.size());
  detail::read_headers(request, extension);
  return !parent.empty() || !object_id.empty() || extension.headers_size() > 0;
}

Result<Principal> HttpFace::Impl::log_in(const net::HttpRequest& request) {
  if (!options_.login) return Principal();
  std::string decoded;
  const std::string_view token = detail::bearer_token(request, decoded);
  if (token.size() > token_bytes_max) {
    return Error(Code::unauthenticated,
                 "a token has at most " + std::to_string(token_bytes_max) + " bytes");
  }
  try {
    return options_.login(token, {.address = request.peer, .identity = request.peer_identity});
  } catch (...) {
    return Error(Code::internal, "the login has thrown an exception");
  }
}

HttpCaller& HttpFace::Impl::take_caller() {
  if (idle_.empty()) return *new HttpCaller(static_cast<HttpCaller::Host&>(*this));
  HttpCaller& caller = *idle_.back().release();
  idle_.pop_back();
  return caller;
}

void HttpFace::Impl::give_back(HttpCaller& caller) {
  std::unique_ptr<HttpCaller> owned(&caller);
  caller.close();
  if (idle_.size() < idle_caller_count_max) idle_.push_back(std::move(owned));
}

HttpFace::HttpFace(Server& server, Options options)
    : impl_(std::make_unique<Impl>(server, std::move(options))) {}
HttpFace::~HttpFace() = default;

void HttpFace::begin(net::HttpExchange& exchange) { impl_->begin(exchange); }

bool HttpFace::serves_here() const { return impl_->serves_here(); }

}  // namespace corolane::rpc
