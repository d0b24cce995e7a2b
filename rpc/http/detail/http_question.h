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

// How a request and its answer are written.
struct Format {
  Codec codec = Codec::json;
  bool is_stream = false;  // Messages in envelopes, and the outcome in the last one.
  bool accepts_gzip = false;
};
// "application/json", "application/connect+json".
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

// The id of the called object; empty when there is none.
Result<std::string> object_id_of(const net::HttpRequest& request);
// Empty when there is none.
std::string_view bearer_token(const net::HttpRequest& request);

}  // namespace detail
}  // namespace corolane::rpc
