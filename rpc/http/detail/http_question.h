// SPDX-License-Identifier: MIT
// What an HTTP request says about the call that it makes: its headers and query, by the Connect
// protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/http/http.h"
#include "rpc/headers.h"
#include "rpc/options.h"
#include "rpc/service.h"

namespace corolane::rpc {

class RequestExtension;

namespace detail {

enum class Codec { json, proto };

enum class Framing {
  none,       // One message; an error is the status of the response.
  envelopes,  // A stream: messages in envelopes, and the outcome in the last one.
  events      // A stream for a browser's EventSource: the request is one bare message.
};

// How a request and its answer are written.
struct Format {
  Codec codec = Codec::json;
  Framing framing = Framing::none;
  bool accepts_gzip = false;

  bool is_stream() const { return framing != Framing::none; }
};
// "application/json", "application/connect+json", "text/event-stream".
std::string_view type_of(Format format);
// "application/json; charset=utf-8" is application/json.
std::string_view without_parameters(std::string_view type);

struct Question {
  Format format = {};
  bool is_zipped = false;  // The envelopes of a stream may be zipped.
  // Within the request, or in the text given to read_question(); of a stream, an envelope.
  std::string_view message = {};
};

// Streams carry each message in an envelope: a byte of flags, four bytes of its size, and the
// message (https://connectrpc.com/docs/protocol#streaming-rpcs).
inline constexpr std::size_t envelope_head_bytes = 5;
inline constexpr std::uint8_t envelope_ends_stream = 0x02;
inline constexpr std::uint8_t envelope_is_zipped = 0x01;
struct Envelope {
  bool is_zipped = false;
  std::string_view message = {};
};
// Cuts the first envelope off a body of envelopes.
Result<Envelope> take_envelope(std::string_view& body);
// An envelope is compressed, and no header says so.
Error unexpected_gzip();
void append_envelope_head(std::string& text, std::uint8_t flags, std::size_t size);

// Whether the method is called by GET as well: it has no side effects, and takes one message.
bool may_get(const Method& method);
// A request that is not a call is answered here, and false is returned. `got` holds the decoded
// message of a GET.
bool read_question(const net::HttpRequest& request, const Method& method, Question& question,
                   std::string& got, net::HttpResponse& response);

Result<Deadline> deadline_of(const net::HttpRequest& request, const Method& method, Door door,
                             TimePoint arrived_at);
// The headers that the handler may read: all but those that HTTP, Connect and this face use.
void read_headers(const net::HttpRequest& request, RequestExtension& extension);
// Adds headers to a response; those of unary calls send their trailers with a prefix, as HTTP/1.1
// has no reliable trailers.
void put_headers(const Headers& headers, std::string_view prefix, net::HttpResponse& response);
// {"name":["value","another value"]}
void append_headers_json(std::string& json, const Headers& headers);

// The id of the called object, from a header or the query of a GET; empty when there is none.
Result<std::string> object_id_of(const net::HttpRequest& request);
// Of the header Authorization; for GET, which EventSource asks without headers of its own, also of
// the query (RFC 6750, 2.3), which is then decoded into `decoded`. Empty when there is none.
std::string_view bearer_token(const net::HttpRequest& request, std::string& decoded);
// Whether the target itself has a token: such an answer is in no cache.
bool has_token_in_query(const net::HttpRequest& request);

}  // namespace detail
}  // namespace corolane::rpc
