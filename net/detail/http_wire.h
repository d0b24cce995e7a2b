// HTTP/1.1 messages and their bytes: read from a stream, written as text.
//
// Boost.Beast parses; http_wire.cc is the one file that sees it.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/detail/byte_buffer.h"
#include "net/http.h"

namespace corolane::net::detail {

struct ReceivedRequest {
  HttpRequest request;
  bool keep_alive = false;
};

// Why a message could not be read.
struct HttpRefusal {
  unsigned status;  // That answers a request; 0 when nobody is left to hear it.
  Error error;
};

// Reads the messages of one direction of a stream, one after the other.
class HttpReader {
 public:
  HttpReader(Stream& stream, const HttpOptions& options) : stream_(stream), options_(options) {}

  // Suspends until a message begins; false when the peer ends the connection instead.
  Result<bool> wait_for_message(Deadline deadline);

  // Suspend until all of a message is there.
  std::expected<ReceivedRequest, HttpRefusal> read_request(Deadline deadline);
  // `to_head` when it answers a HEAD request: it has no body then, whatever it says.
  Result<HttpResponse> read_response(bool to_head, Deadline deadline);

  // What was read behind the last message.
  std::span<const std::byte> unread() const { return input_.bytes(); }

 private:
  // The templates are over Beast's parsers of requests and responses.
  template <typename Parser>
  std::optional<HttpRefusal> read_header(Parser& parser, Deadline deadline);
  template <typename Parser>
  std::optional<HttpRefusal> read_body(Parser& parser, Deadline deadline);
  // Parses what is there, or reads more.
  template <typename Parser>
  std::optional<HttpRefusal> advance(Parser& parser, Deadline deadline);
  template <typename Parser>
  std::optional<HttpRefusal> read_more(Parser& parser, Deadline deadline);
  Result<std::size_t> fill(Deadline deadline);

  Stream& stream_;
  const HttpOptions options_;
  ByteBuffer input_;
  std::size_t header_count_ = 0;  // Bytes that the parser has taken since a header began.
};

// Header names are the same whatever their case.
bool is_same_name(std::string_view a, std::string_view b);

// The whole response; without the body when it answers a HEAD request. A response that HTTP
// cannot carry, with a line break in a header or a status of no three digits, becomes a 500.
std::string to_text(const HttpResponse& response, bool to_head, bool keep_alive);

// The whole request, for a connection of its own. Fails with invalid_argument when HTTP cannot
// carry it.
Result<std::string> to_text(const HttpRequest& request, const HostPort& host);

// A response whose body repeats the status, "404 Not Found", and no more.
HttpResponse bare_response(unsigned status);

}  // namespace corolane::net::detail
