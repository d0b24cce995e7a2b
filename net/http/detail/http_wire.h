// HTTP/1.1 messages and their bytes: responses read from a stream, all of them written as text.
//
// Boost.Beast parses; http_wire.cc and http_request_parser.cc alone see it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "net/http/http.h"
#include "net/uv/detail/byte_buffer.h"

namespace corolane::net::detail {

// Reads the responses that come by a stream, one after the other.
class HttpReader {
 public:
  // `stream` outlives it.
  HttpReader(Stream& stream, const HttpOptions& options);
  ~HttpReader();

  // Suspends until all of a response is there. `to_head` when it answers a HEAD request: it has no
  // body then, whatever it says.
  Result<HttpResponse> read_response(bool to_head, Deadline deadline);

  // The same in pieces, for a body without a bound: all but the body,
  Result<HttpResponse> read_head(Deadline deadline);
  // and then what comes of it, appended to `body`; false when there was nothing left. Fails with
  // nothing lost when the deadline passes.
  Result<bool> read_body(std::string& body, Deadline deadline);

  // Whether something came of the response that is being read.
  bool has_begun() const { return header_count_ > 0 || !input_.empty(); }
  // Behind a whole response: the peer takes another request, and has said nothing before it.
  bool keeps_alive() const;

 private:
  class Parser;

  Result<void> read_header(bool to_head, bool has_bound, Deadline deadline);
  // Parses what is there, or reads more.
  Result<void> advance(Deadline deadline);
  Result<void> read_more(Deadline deadline);
  Result<std::size_t> fill(Deadline deadline);
  // The response without its body.
  HttpResponse head() const;

  Stream& stream_;
  const HttpOptions options_;
  ByteBuffer input_;
  std::unique_ptr<Parser> parser_;  // Of the latest response.
  std::size_t header_count_ = 0;    // Bytes that the parser has taken since a header began.
};

// Sends a request and has `read` read what answers it. A server may refuse a body before it has
// read all of it: its answer counts for more than the write that failed.
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
  std::string_view date = {};  // The value of its field, if it gets one.
};

// Appends the beginning of a response; false when a body has to follow it. HTTP cannot carry one
// with a line break in a header or a status of no three digits: is_sendable() tells.
bool append_head(std::string& text, const HttpResponse& response, const HttpResponseForm& form);
bool is_sendable(const HttpResponse& response);

// The whole request; whether the connection is kept for another one. Fails with invalid_argument
// when HTTP cannot carry it.
Result<std::string> to_text(const HttpRequest& request, const HostPort& host, bool keep_alive);

// Of a request that was sent, or part of it: names it, and says that it may have been executed.
Error lost(Error error, const HttpRequest& request, const HostPort& host);

// A response whose body repeats the status, "404 Not Found", and no more.
HttpResponse bare_response(unsigned status);

}  // namespace corolane::net::detail
