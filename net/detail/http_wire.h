// HTTP/1.1 messages and their bytes: responses read from a stream, all of them written as text.
//
// Boost.Beast parses; http_wire.cc and http_request_parser.cc alone see it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "net/detail/byte_buffer.h"
#include "net/http.h"

namespace corolane::net::detail {

// Reads the responses that come by a stream, one after the other.
class HttpReader {
 public:
  HttpReader(Stream& stream, const HttpOptions& options) : stream_(stream), options_(options) {}

  // Suspends until all of a response is there. `to_head` when it answers a HEAD request: it has no
  // body then, whatever it says.
  Result<HttpResponse> read_response(bool to_head, Deadline deadline);

 private:
  class Parser;

  Result<void> read_header(Parser& parser, Deadline deadline);
  // Parses what is there, or reads more.
  Result<void> advance(Parser& parser, Deadline deadline);
  Result<void> read_more(Parser& parser, Deadline deadline);
  Result<std::size_t> fill(Deadline deadline);

  Stream& stream_;
  const HttpOptions options_;
  ByteBuffer input_;
  std::size_t header_count_ = 0;  // Bytes that the parser has taken since a header began.
};

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

// The whole request, for a connection of its own. Fails with invalid_argument when HTTP cannot
// carry it.
Result<std::string> to_text(const HttpRequest& request, const HostPort& host);

// A response whose body repeats the status, "404 Not Found", and no more.
HttpResponse bare_response(unsigned status);

}  // namespace corolane::net::detail
