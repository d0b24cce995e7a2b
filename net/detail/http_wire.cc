#include "net/detail/http_wire.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

namespace corolane::net::detail {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

using RequestParser = http::request_parser<http::string_body>;
using ResponseParser = http::response_parser<http::string_body>;

constexpr std::size_t read_bytes = 4 * 1024;

// What follows from the message itself, and two of which would contradict each other.
constexpr std::string_view derived_names[] = {"Connection", "Content-Length", "Content-Type",
                                              "Host", "Transfer-Encoding"};

bool is_derived(std::string_view name) {
  return std::ranges::any_of(derived_names,
                             [&](std::string_view known) { return is_same_name(name, known); });
}

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

HttpRefusal refusal_of(const beast::error_code& code) {
  if (code == http::error::header_limit) {
    return {431, Error(Code::resource_exhausted, "the header is too large")};
  }
  if (code == http::error::body_limit) {
    return {413, Error(Code::resource_exhausted, "the body is too large")};
  }
  return {400, Error(Code::invalid_argument, "this is no HTTP: " + code.message())};
}

HttpHeaders headers_of(const http::fields& fields) {
  HttpHeaders headers;
  for (const auto& field : fields) {
    headers.emplace_back(view(field.name_string()), view(field.value()));
  }
  return headers;
}

bool has_line_break(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

bool is_sendable(std::string_view content_type, const HttpHeaders& headers) {
  return !has_line_break(content_type) && std::ranges::none_of(headers, [](const auto& header) {
    return header.first.find_first_of(": \t") != std::string::npos || header.first.empty() ||
           has_line_break(header.first) || has_line_break(header.second);
  });
}

// Three digits (RFC 9112, 4).
bool is_status(unsigned number) { return number >= 100 && number <= 999; }

// "404 Not Found".
std::string status_line(unsigned status) {
  const auto reason = http::obsolete_reason(http::int_to_status(status));
  return std::to_string(status).append(" ").append(view(reason));
}

void append_header(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ").append(value).append("\r\n");
}

void append_headers(std::string& text, const HttpHeaders& headers) {
  for (const auto& [name, value] : headers) {
    if (!is_derived(name)) append_header(text, name, value);
  }
}

}  // namespace

Result<bool> HttpReader::wait_for_message(Deadline deadline) {
  if (!input_.empty()) return true;
  auto count = fill(deadline);
  if (!count) return count.error();
  return *count > 0;
}

std::expected<ReceivedRequest, HttpRefusal> HttpReader::read_request(Deadline deadline) {
  RequestParser parser;
  if (auto refusal = read_header(parser, deadline)) return std::unexpected(std::move(*refusal));
  const bool waits_to_send = beast::iequals(parser.get()[http::field::expect], "100-continue");
  if (waits_to_send && !parser.is_done()) {
    auto invited = stream_.write_all(bytes_of("HTTP/1.1 100 Continue\r\n\r\n"), deadline);
    if (!invited) return std::unexpected(HttpRefusal{0, std::move(invited.error())});
  }
  if (auto refusal = read_body(parser, deadline)) return std::unexpected(std::move(*refusal));

  const bool keep_alive = parser.keep_alive();
  auto message = parser.release();
  return ReceivedRequest{.request = {.method = std::string(view(message.method_string())),
                                     .target = std::string(view(message.target())),
                                     .body = std::move(message.body()),
                                     .headers = headers_of(message)},
                         .keep_alive = keep_alive};
}

Result<HttpResponse> HttpReader::read_response(bool to_head, Deadline deadline) {
  std::optional<ResponseParser> parser;
  do {  // "100 Continue" and its like only announce the response.
    parser.emplace();
    parser->skip(to_head);
    auto refusal = read_header(*parser, deadline);
    if (!refusal) refusal = read_body(*parser, deadline);
    if (refusal) return std::move(refusal->error);
  } while (parser->get().result_int() / 100 == 1);
  if (!is_status(parser->get().result_int())) return refusal_of(http::error::bad_status).error;

  auto message = parser->release();
  HttpResponse response{.status = message.result_int(),
                        .content_type = std::string(view(message[http::field::content_type])),
                        .body = std::move(message.body()),
                        .headers = headers_of(message)};
  std::erase_if(response.headers, [](const auto& header) { return is_derived(header.first); });
  return response;
}

template <typename Parser>
std::optional<HttpRefusal> HttpReader::read_header(Parser& parser, Deadline deadline) {
  parser.header_limit(static_cast<std::uint32_t>(options_.header_bytes_max));
  parser.body_limit(options_.body_bytes_max);
  header_count_ = 0;
  while (!parser.is_header_done()) {
    if (auto refusal = advance(parser, deadline)) return refusal;
    // Beast bounds the first line and the fields one by one; this bounds their sum.
    if (header_count_ > options_.header_bytes_max) return refusal_of(http::error::header_limit);
  }
  return std::nullopt;
}

template <typename Parser>
std::optional<HttpRefusal> HttpReader::read_body(Parser& parser, Deadline deadline) {
  while (!parser.is_done()) {
    if (auto refusal = advance(parser, deadline)) return refusal;
  }
  return std::nullopt;
}

template <typename Parser>
std::optional<HttpRefusal> HttpReader::advance(Parser& parser, Deadline deadline) {
  if (input_.empty()) return read_more(parser, deadline);
  beast::error_code code;
  const auto bytes = input_.bytes();
  const std::size_t parsed =
      parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), code);
  input_.consume(parsed);
  header_count_ += parsed;
  if (code == http::error::need_more) {
    // The parser has seen what is left and found no end in it: it is all of one header. Between
    // chunks of a body, too, a line may not be endless.
    const std::size_t unfinished = parser.is_header_done() ? 0 : header_count_;
    if (unfinished + input_.size() > options_.header_bytes_max) {
      return refusal_of(http::error::header_limit);
    }
    return read_more(parser, deadline);
  }
  if (code) return refusal_of(code);
  return std::nullopt;
}

template <typename Parser>
std::optional<HttpRefusal> HttpReader::read_more(Parser& parser, Deadline deadline) {
  auto count = fill(deadline);
  if (!count) {
    const bool too_slow = count.error().code() == Code::deadline_exceeded;
    return HttpRefusal{too_slow ? 408u : 0u, std::move(count.error())};
  }
  if (*count > 0) return std::nullopt;
  // A response may have no other end than the connection's.
  beast::error_code code = http::error::partial_message;
  if (parser.got_some()) parser.put_eof(code);
  if (!code) return std::nullopt;
  return HttpRefusal{0, Error(Code::unavailable, "the peer closed before the end of a message")};
}

Result<std::size_t> HttpReader::fill(Deadline deadline) {
  auto count = stream_.read_some(input_.room(read_bytes), deadline);
  if (count) input_.commit(*count);
  return count;
}

bool is_same_name(std::string_view a, std::string_view b) {
  return beast::iequals({a.data(), a.size()}, {b.data(), b.size()});
}

HttpResponse bare_response(unsigned status) {
  return {.status = status, .body = status_line(status) + "\n"};
}

std::string to_text(const HttpResponse& response, bool to_head, bool keep_alive) {
  if (!is_status(response.status) || !is_sendable(response.content_type, response.headers)) {
    return to_text(bare_response(500), to_head, keep_alive);
  }
  const bool has_body = response.status >= 200 && response.status != 204 && response.status != 304;
  std::string text = "HTTP/1.1 " + status_line(response.status) + "\r\n";
  if (has_body) {
    append_header(text, "Content-Type", response.content_type);
    append_header(text, "Content-Length", std::to_string(response.body.size()));
  }
  append_header(text, "Connection", keep_alive ? "keep-alive" : "close");
  append_headers(text, response.headers);
  text += "\r\n";
  if (has_body && !to_head) text += response.body;
  return text;
}

Result<std::string> to_text(const HttpRequest& request, const HostPort& host) {
  constexpr std::string_view separators(" \t\r\n\0", 5);
  const auto is_word = [&](std::string_view word) {
    return !word.empty() && word.find_first_of(separators) == std::string_view::npos;
  };
  if (!is_word(request.method) || !is_word(request.target) || !is_word(host.host) ||
      !is_sendable("", request.headers)) {
    return Error(Code::invalid_argument,
                 "HTTP cannot carry this request: " + request.method + " " + request.target);
  }
  std::string text = request.method + " " + request.target + " HTTP/1.1\r\n";
  append_header(text, "Host", to_string(Endpoint{.address = host.host, .port = host.port}));
  append_header(text, "Connection", "close");
  if (const auto type = request.header("Content-Type"); !type.empty()) {
    append_header(text, "Content-Type", type);
  }
  const bool expects_no_body = request.method == "GET" || request.method == "HEAD";
  if (!request.body.empty() || !expects_no_body) {
    append_header(text, "Content-Length", std::to_string(request.body.size()));
  }
  append_headers(text, request.headers);
  return text.append("\r\n").append(request.body);
}

}  // namespace corolane::net::detail
