// SPDX-License-Identifier: MIT
// HTTP/1.1 messages as bytes: reads responses from a stream, writes requests and responses as text.
//
// Boost.Beast parses; only http_wire.cc and http_request_parser.cc see it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "net/detail/byte_buffer.h"
#include "net/http/http.h"

namespace corolane::net::detail {

// Reads responses from a stream, one after the other.
class HttpReader {
 public:
  // `stream` outlives it.
  HttpReader(Stream& stream, const HttpOptions& options);
  ~HttpReader();

  // Suspends until a whole response has arrived. `to_head` when it answers a HEAD request: then it
  // has no body, whatever its header says.
  Result<HttpResponse> read_response(bool to_head, Deadline deadline);

  // The same in pieces, for a body without a bound: everything except the body,
  Result<HttpResponse> read_head(Deadline deadline);
  // and then the next piece of the body, appended to `body`; false at its end. Nothing is lost when
  // the deadline passes.
  Result<bool> read_body(std::string& body, Deadline deadline);

  // Whether anything of the current response has arrived.
  bool has_begun() const;
  // After a whole response: whether the peer accepts another request and has sent nothing since.
  bool keeps_alive() const;

 private:
  class Parser;

  Result<void> read_header(bool to_head, bool has_bound, Deadline deadline);
  // Parses the buffered bytes, or reads more.
  Result<void> advance(Deadline deadline);
  Result<void> read_more(Deadline deadline);
  Result<std::size_t> fill(Deadline deadline);
  // The response without its body.
  HttpResponse head() const;

  Stream& stream_;
  const HttpOptions options_;
  ByteBuffer input_;
  std::unique_ptr<Parser> parser_;  // The current response's parser.
};

// Sends a request and lets `read` read the answer. A server may refuse a body before it has read
// all of it: then its answer takes precedence over the failed write.
template <typename Read>
auto exchange(Stream& stream, std::string_view text, Deadline deadline, Read read)
    -> decltype(read()) {
  const auto written = stream.write_all(bytes_of(text), deadline);
  if (!written && written.error().code() != Code::unavailable) return written.error();
  auto answer = read();
  if (!answer && !written) return written.error();
  return answer;
}

// How a response is sent.
struct HttpResponseForm {
  bool to_head = false;  // It answers a HEAD request: the body is only announced.
  bool keep_alive = false;
  // The body follows in pieces: chunked, or ended by the end of the connection.
  bool in_pieces = false;
  bool is_chunked = false;
  std::string_view date = {};  // The value of the Date header, if there is one.
};

// Appends the head of a response; false when no body follows. HTTP cannot carry a response with a
// line break in a header or a status that has not three digits: see is_sendable().
bool append_head(std::string& text, const HttpResponse& response, const HttpResponseForm& form);
bool is_sendable(const HttpResponse& response);

// The whole request; `keep_alive` keeps the connection for another one. Fails with invalid_argument
// when HTTP cannot carry it.
Result<std::string> to_text(const HttpRequest& request, const HostPort& host, bool keep_alive);

// Completes the error of a request that was sent at least in part: names the request, and marks it
// as possibly executed.
Error lost(Error error, const HttpRequest& request, const HostPort& host);

// A response whose body only repeats the status, "404 Not Found".
HttpResponse bare_response(unsigned status);

}  // namespace corolane::net::detail
