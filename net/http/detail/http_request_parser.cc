// SPDX-License-Identifier: MIT
#include "net/http/detail/http_request_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>
#include <string_view>

#include "net/http/detail/header_bound.h"

namespace corolane::net::detail {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

// A peer may announce any length; beyond this, only received bytes take memory.
constexpr std::size_t body_bytes_reserved_max = 16 * 1024;

std::string_view std_text(beast::string_view text) { return {text.data(), text.size()}; }

// Checks its characters: those of a name, of an address in brackets, and of a port (RFC 3986,
// 3.2.2).
bool is_host(std::string_view text) {
  static constexpr std::string_view others = "-._~%!$&'()*+,;=:[]";
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.contains(c);
  });
}

class Parser final : public http::basic_parser<true> {
 public:
  explicit Parser(HttpRequest& request) : request_(request) {}

  // The body has a coding that we do not know.
  bool has_unknown_coding() const { return has_unknown_coding_; }
  bool is_old() const { return is_old_; }
  bool has_old_coding() const { return has_coding_ && is_old_; }
  // True without a Host (except in HTTP/1.0), with two, which two parsers could resolve differently
  // (RFC 9112, 3.2), and with a malformed one.
  bool has_wrong_host() const {
    return host_count_ > 1 || (host_count_ == 0 && !is_old_) || is_host_malformed_;
  }
  // A browser sends one Origin: of two, another parser may believe the other one.
  bool has_two_origins() const { return origin_count_ > 1; }
  bool expects_continue = false;

 private:
  using Code = beast::error_code;

  void on_request_impl(http::verb, beast::string_view method, beast::string_view target,
                       int version, Code&) override {
    request_.method.assign(method.data(), method.size());
    request_.target.assign(target.data(), target.size());
    is_old_ = version < 11;
  }
  void on_response_impl(int, beast::string_view, int, Code&) override {}
  void on_field_impl(http::field field, beast::string_view name, beast::string_view value,
                     Code&) override {
    // Trailer fields behind a chunked body could contradict the header; they are ignored.
    if (is_header_done()) return;
    if (field == http::field::transfer_encoding) {
      has_coding_ = true;
      has_unknown_coding_ = has_unknown_coding_ || !is_same_name(std_text(value), "chunked");
    } else if (field == http::field::expect) {
      expects_continue = is_same_name(std_text(value), "100-continue");
    } else if (field == http::field::host) {
      ++host_count_;
      is_host_malformed_ = is_host_malformed_ || !is_host(std_text(value));
    } else if (field == http::field::origin) {
      ++origin_count_;
    }
    request_.headers.add(std_text(name), std_text(value));
  }
  void on_header_impl(Code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, Code&) override {
    if (!length) return;
    request_.body.reserve(std::min<std::size_t>(*length, body_bytes_reserved_max));
  }
  std::size_t on_body_impl(beast::string_view body, Code&) override {
    request_.body.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, Code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, Code&) override {
    request_.body.append(body.data(), body.size());
    return body.size();
  }
  void on_finish_impl(Code&) override {}

  HttpRequest& request_;
  bool is_old_ = false;
  int host_count_ = 0;
  int origin_count_ = 0;
  bool is_host_malformed_ = false;
  bool has_coding_ = false;
  bool has_unknown_coding_ = false;
};

unsigned refusal_of(const beast::error_code& code) {
  if (code == http::error::header_limit) return 431;
  if (code == http::error::body_limit) return 413;
  if (code == http::error::bad_version) return 505;
  return 400;
}

}  // namespace

class HttpRequestParser::Impl {
 public:
  std::optional<Parser> parser;
  HeaderBound header;
};

HttpRequestParser::HttpRequestParser() : impl_(std::make_unique<Impl>()) {}
HttpRequestParser::~HttpRequestParser() = default;

void HttpRequestParser::begin(const HttpOptions& options, HttpRequest& request) {
  request.method.clear();
  request.target.clear();
  request.body.clear();
  request.headers.clear();
  Parser& parser = impl_->parser.emplace(request);
  parser.header_limit(static_cast<std::uint32_t>(options.header_bytes_max));
  parser.body_limit(options.body_bytes_max);
  state_ = State::needs_more;
  impl_->header.begin(options.header_bytes_max);
}

std::size_t HttpRequestParser::put(std::span<const std::byte> bytes) {
  const std::size_t given = bytes.size();
  while (!bytes.empty() && state_ == State::needs_more && advance(bytes)) continue;
  return given - bytes.size();
}

bool HttpRequestParser::advance(std::span<const std::byte>& bytes) {
  Parser& parser = *impl_->parser;
  beast::error_code code;
  bytes = bytes.subspan(impl_->header.put(parser, bytes, code));
  if (code == http::error::need_more) return false;
  if (code) {
    refuse(refusal_of(code));
    return false;
  }
  // A body with a coding that HTTP/1.1 or the peer's version does not define may end at different
  // places for two parsers, and one of them would take its end for the next request (RFC 9112, 6.1
  // and 6.3).
  if (parser.is_header_done() && parser.has_old_coding()) refuse(400);
  if (parser.is_header_done() && (parser.has_wrong_host() || parser.has_two_origins())) {
    refuse(400);
  }
  if (parser.is_header_done() && parser.has_unknown_coding()) refuse(501);
  if (state_ == State::needs_more && parser.is_done()) {
    state_ = State::is_done;
    keeps_alive_ = parser.keep_alive();
    reads_chunks_ = !parser.is_old();
  }
  return true;
}

bool HttpRequestParser::take_expectation() {
  Parser& parser = *impl_->parser;
  if (!parser.expects_continue || !parser.is_header_done() || state_ != State::needs_more) {
    return false;
  }
  parser.expects_continue = false;
  return true;
}

}  // namespace corolane::net::detail
