// SPDX-License-Identifier: MIT
#include "net/http/detail/http_wire.h"

#include <algorithm>
#include <array>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <charconv>
#include <memory>
#include <utility>

#include "net/http/detail/header_bound.h"

namespace corolane::net::detail {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::size_t read_bytes = 4 * 1024;

// Headers that are derived from the message itself; a second one would contradict them.
constexpr std::string_view derived_names[] = {"Connection", "Content-Length", "Content-Type",
                                              "Host", "Transfer-Encoding"};

bool is_derived(std::string_view name) {
  return std::ranges::any_of(derived_names,
                             [&](std::string_view known) { return is_same_name(name, known); });
}

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

Error error_of(const beast::error_code& code) {
  if (code == http::error::header_limit) {
    return Error(Code::resource_exhausted, "the header is too large");
  }
  if (code == http::error::body_limit) {
    return Error(Code::resource_exhausted, "the body is too large");
  }
  return Error(Code::invalid_argument, "this is not HTTP: " + code.message());
}

bool ends_line(char c) { return c == '\r' || c == '\n' || c == '\0'; }

bool has_line_break(std::string_view text) { return std::ranges::any_of(text, ends_line); }

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char c) {
    return c == ':' || c == ' ' || c == '\t' || ends_line(c);
  });
}

bool is_sendable(std::string_view content_type, const HttpHeaders& headers) {
  return !has_line_break(content_type) && std::ranges::all_of(headers, [](const auto& header) {
    return is_name(header.first) && !has_line_break(header.second);
  });
}

// Three digits (RFC 9112, 4).
bool is_status(unsigned number) { return number >= 100 && number <= 999; }

void append_number(std::string& text, std::size_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), end);
}

// "404 Not Found".
void append_status(std::string& text, unsigned status) {
  append_number(text, status);
  text.append(" ").append(view(http::obsolete_reason(http::int_to_status(status))));
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

class HttpReader::Parser : public http::response_parser<http::string_body> {
 public:
  HeaderBound header;
};

HttpReader::HttpReader(Stream& stream, const HttpOptions& options)
    : stream_(stream), options_(options) {}
HttpReader::~HttpReader() = default;

bool HttpReader::has_begun() const {
  return (parser_ != nullptr && parser_->header.has_begun()) || !input_.empty();
}

Result<HttpResponse> HttpReader::read_response(bool to_head, Deadline deadline) {
  if (auto read = read_header(to_head, /*has_bound=*/true, deadline); !read) return read.error();
  while (!parser_->is_done()) {
    if (auto advanced = advance(deadline); !advanced) return advanced.error();
  }
  HttpResponse response = head();
  response.body = std::move(parser_->get().body());
  return response;
}

Result<HttpResponse> HttpReader::read_head(Deadline deadline) {
  if (auto read = read_header(/*to_head=*/false, /*has_bound=*/false, deadline); !read) {
    return read.error();
  }
  return head();
}

Result<bool> HttpReader::read_body(std::string& body, Deadline deadline) {
  std::string& came = parser_->get().body();
  while (came.empty() && !parser_->is_done()) {
    if (auto advanced = advance(deadline); !advanced) return advanced.error();
  }
  if (came.empty()) return false;
  body += came;
  came.clear();
  return true;
}

bool HttpReader::keeps_alive() const {
  return parser_ != nullptr && parser_->is_done() && parser_->keep_alive() && input_.empty();
}

Result<void> HttpReader::read_header(bool to_head, bool has_bound, Deadline deadline) {
  do {  // "100 Continue" and other interim responses only announce the real one.
    parser_ = std::make_unique<Parser>();
    parser_->skip(to_head);
    parser_->header_limit(static_cast<std::uint32_t>(options_.header_bytes_max));
    if (has_bound) {
      parser_->body_limit(options_.body_bytes_max);
    } else {
      parser_->body_limit(boost::none);
    }
    parser_->header.begin(options_.header_bytes_max);
    while (!parser_->is_header_done()) {
      if (auto advanced = advance(deadline); !advanced) return advanced;
    }
  } while (parser_->get().result_int() / 100 == 1);
  if (!is_status(parser_->get().result_int())) return error_of(http::error::bad_status);
  return {};
}

HttpResponse HttpReader::head() const {
  const auto& message = parser_->get();
  HttpResponse response{.status = message.result_int(),
                        .content_type = std::string(view(message[http::field::content_type]))};
  for (const auto& field : message) {
    const std::string_view name = view(field.name_string());
    if (!is_derived(name)) response.headers.add(name, view(field.value()));
  }
  return response;
}

Result<void> HttpReader::advance(Deadline deadline) {
  if (input_.empty()) return read_more(deadline);
  beast::error_code code;
  input_.consume(parser_->header.put(*parser_, input_.bytes(), code));
  if (code == http::error::need_more) return read_more(deadline);
  if (code) return error_of(code);
  return {};
}

Result<void> HttpReader::read_more(Deadline deadline) {
  auto count = fill(deadline);
  if (!count) return std::move(count.error());
  if (*count > 0) return {};
  // The end of a response may be only the end of its connection.
  beast::error_code code = http::error::partial_message;
  if (parser_->got_some()) parser_->put_eof(code);
  if (!code) return {};
  return Error(Code::unavailable, "the peer closed before the end of a message");
}

Result<std::size_t> HttpReader::fill(Deadline deadline) {
  auto count = stream_.read_some(input_.room(read_bytes), deadline);
  if (count) input_.commit(*count);
  return count;
}

bool is_sendable(const HttpResponse& response) {
  return is_status(response.status) && is_sendable(response.content_type, response.headers);
}

bool append_head(std::string& text, const HttpResponse& response, const HttpResponseForm& form) {
  const bool has_body = response.status >= 200 && response.status != 204 && response.status != 304;
  text += "HTTP/1.1 ";
  append_status(text, response.status);
  text += "\r\n";
  if (!form.date.empty()) append_header(text, "Date", form.date);
  if (has_body) {
    append_header(text, "Content-Type", response.content_type);
    if (form.is_chunked) {
      append_header(text, "Transfer-Encoding", "chunked");
    } else if (!form.in_pieces) {
      text += "Content-Length: ";
      append_number(text, response.body.size());
      text += "\r\n";
    }
  }
  append_header(text, "Connection", form.keep_alive ? "keep-alive" : "close");
  append_headers(text, response.headers);
  text += "\r\n";
  return has_body && !form.to_head;
}

HttpResponse bare_response(unsigned status) {
  HttpResponse response{.status = status};
  append_status(response.body, status);
  response.body += "\n";
  return response;
}

Result<std::string> to_text(const HttpRequest& request, const HostPort& host, bool keep_alive) {
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
  const Endpoint endpoint{.address = host.host, .port = host.port};
  // The path of a socket is not a host.
  append_header(text, "Host", is_unix(endpoint) ? "localhost" : to_string(endpoint));
  append_header(text, "Connection", keep_alive ? "keep-alive" : "close");
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

Error lost(Error error, const HttpRequest& request, const HostPort& host) {
  return std::move(error)
      .with_context(request.method + " " + request.target + " at " + host.host)
      .with_maybe_executed();
}

}  // namespace corolane::net::detail
