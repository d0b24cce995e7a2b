// SPDX-License-Identifier: MIT
#include "net/websocket/websocket_upgrade.h"

#include <algorithm>
#include <array>
#include <utility>

#include "coroutine/base/encoding.h"
#include "net/crypto.h"
#include "net/detail/byte_buffer.h"
#include "net/http/detail/http_request_parser.h"
#include "net/http/detail/http_wire.h"
#include "net/websocket/detail/websocket_extensions.h"

namespace corolane::net {
namespace {

constexpr std::string_view version = "13";
// Section 1.3.
constexpr std::string_view key_suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
// A key is 16 bytes in base64.
constexpr std::size_t key_size = 24;
// The bound of a server's response.
constexpr std::size_t response_bytes_max = 8 * 1024;
// Room for one read.
constexpr std::size_t read_bytes = 4096;

std::string accept_of(std::string_view key) {
  return to_base64(sha1(std::string(key).append(key_suffix)));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The comma-separated parts of all headers of that name.
std::vector<std::string_view> list_of(const HttpHeaders& headers, std::string_view name) {
  std::vector<std::string_view> all;
  for (const auto& [known_name, value] : headers) {
    if (!is_same_name(known_name, name)) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t comma = rest.find(',');
      const std::string_view part = trimmed(rest.substr(0, comma));
      if (!part.empty()) all.push_back(part);
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
  }
  return all;
}

bool has_token(const HttpHeaders& headers, std::string_view name, std::string_view token) {
  return std::ranges::any_of(list_of(headers, name),
                             [&](std::string_view part) { return is_same_name(part, token); });
}

std::unexpected<HttpResponse> refusal(unsigned status, std::string body, HttpHeaders headers = {}) {
  return std::unexpected(HttpResponse{
      .status = status, .body = std::move(body) + "\n", .headers = std::move(headers)});
}

std::string choose_protocol(const HttpRequest& request, const std::vector<std::string>& ours) {
  const auto offered = list_of(request.headers, "Sec-WebSocket-Protocol");
  for (const std::string& protocol : ours) {
    if (std::ranges::find(offered, protocol) != offered.end()) return protocol;
  }
  return {};
}

// Whether no other name server decides where that host is.
bool cannot_be_rebound(std::string_view host) {
  const std::size_t port = host.rfind(':');
  const bool has_port = port != std::string_view::npos && host.find(']', port) == host.npos;
  const std::string_view name = has_port ? host.substr(0, port) : host;
  const bool is_address =
      name.starts_with('[') || name.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_address || is_same_name(name, "localhost");
}

// Whether a browser may connect from pages of that origin, which other clients do not name.
bool may_come_from(std::string_view origin, const HttpRequest& request,
                   const std::vector<std::string>& admitted) {
  if (origin.empty()) return true;
  const std::size_t scheme_end = origin.find("://");
  const std::string_view host = request.header("Host");
  const bool is_same_host =
      scheme_end != std::string_view::npos && is_same_name(origin.substr(scheme_end + 3), host);
  // Not for a name, which a stranger's page can make point here (DNS rebinding).
  if (is_same_host && cannot_be_rebound(host)) return true;
  return std::ranges::any_of(admitted,
                             [&](const std::string& one) { return one == "*" || one == origin; });
}

}  // namespace

bool asks_for_websocket(const HttpRequest& request) {
  return has_token(request.headers, "Connection", "upgrade") &&
         has_token(request.headers, "Upgrade", "websocket");
}

std::expected<WebSocketAnswer, HttpResponse> answer_websocket(
    const HttpRequest& request, const WebSocketUpgradeOptions& options) {
  if (request.method != "GET" || !asks_for_websocket(request)) {
    return refusal(400,
                   "this is a WebSocket: ask for it with GET, Connection: Upgrade and "
                   "Upgrade: websocket");
  }
  if (request.header("Sec-WebSocket-Version") != version) {
    return refusal(426, "this server speaks version 13 of the WebSocket protocol",
                   {{"Sec-WebSocket-Version", std::string(version)}});
  }
  const std::string_view key = request.header("Sec-WebSocket-Key");
  if (key.size() != key_size || !key.ends_with("==")) {
    return refusal(400, "Sec-WebSocket-Key is 16 bytes in base64");
  }
  if (!may_come_from(request.header("Origin"), request, options.origins)) {
    return refusal(403, "no WebSocket for pages of this origin: its operator may admit it");
  }
  const auto extensions = detail::read_websocket_extensions(request.headers);
  if (!extensions) return refusal(400, "Sec-WebSocket-Extensions is malformed");
  WebSocketAnswer answer{.text =
                             "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                             "Connection: Upgrade\r\nSec-WebSocket-Accept: " +
                             accept_of(key) + "\r\n",
                         .protocol = choose_protocol(request, options.protocols)};
  if (!answer.protocol.empty()) {
    answer.text += "Sec-WebSocket-Protocol: " + answer.protocol + "\r\n";
  }
  if (const auto deflate =
          options.deflates ? detail::accept_deflate_offer(*extensions) : std::nullopt) {
    answer.deflate = deflate->deflate;
    answer.text += "Sec-WebSocket-Extensions: " + deflate->text + "\r\n";
  }
  answer.text += "\r\n";
  return answer;
}

namespace {

// Sends the last response of a connection. Suspends until the kernel has it.
Result<void> send_last(Stream& stream, const HttpResponse& response, Deadline deadline) {
  std::string text;
  if (detail::append_head(text, response, {})) text += response.body;
  if (auto sent = stream.write_all(bytes_of(text), deadline); !sent) return sent;
  stream.finish_writing();
  return stream.flush(deadline);
}

}  // namespace

Result<std::unique_ptr<WebSocket>> accept_websocket(std::unique_ptr<Stream> stream,
                                                    const HttpRequest& request, Deadline deadline,
                                                    const WebSocketUpgradeOptions& options,
                                                    std::span<const std::byte> early) {
  const auto answer = answer_websocket(request, options);
  if (!answer) {
    const HttpResponse& refused = answer.error();
    if (auto sent = send_last(*stream, refused, deadline); !sent) return sent.error();
    constexpr unsigned forbidden = 403;
    return Error(refused.status == forbidden ? Code::permission_denied : Code::invalid_argument,
                 "WebSocket: refused with " + std::to_string(refused.status) + ": " +
                     refused.body.substr(0, refused.body.size() - 1));
  }
  if (auto sent = stream->write_all(bytes_of(answer->text), deadline); !sent) return sent.error();
  return std::make_unique<WebSocket>(std::move(stream), WebSocket::Role::server, options.websocket,
                                     early, answer->deflate);
}

Result<std::unique_ptr<WebSocket>> accept_websocket(std::unique_ptr<Stream> stream,
                                                    Deadline deadline,
                                                    const WebSocketUpgradeOptions& options) {
  using State = detail::HttpRequestParser::State;
  HttpRequest request;
  detail::HttpRequestParser parser;
  parser.begin(options.http, request);
  detail::ByteBuffer input;
  bool has_begun = false;
  while (parser.state() == State::needs_more) {
    auto count = stream->read_some(input.room(read_bytes), deadline);
    if (!count) return count.error();
    if (*count == 0) {
      return Error(Code::unavailable, has_begun ? "WebSocket: the peer ended inside of its request"
                                                : "WebSocket: the peer asked for nothing");
    }
    has_begun = true;
    input.commit(*count);
    input.consume(parser.put(input.bytes()));
  }
  if (parser.state() == State::is_refused) {
    const HttpResponse refused = detail::bare_response(parser.refusal());
    static_cast<void>(send_last(*stream, refused, deadline));
    return Error(Code::invalid_argument, "WebSocket: the request is refused with " + refused.body);
  }
  return accept_websocket(std::move(stream), request, deadline, options, input.bytes());
}

namespace {

// Status and headers of a response without a body. Beast would wait for a body.
struct ResponseHead {
  unsigned status = 0;
  HttpHeaders headers;
};

Error wrong_answer(const std::string& what) {
  return Error(Code::unavailable, "WebSocket: the server answered " + what);
}

Result<ResponseHead> parse_head(std::string_view text) {
  const std::size_t line_end = text.find("\r\n");
  const std::string_view status = text.substr(0, line_end);
  ResponseHead head;
  constexpr std::size_t number_at = std::string_view("HTTP/1.1 ").size();
  if (!status.starts_with("HTTP/1.1 ") || status.size() < number_at + 3) {
    return wrong_answer("with something other than HTTP/1.1");
  }
  for (const char digit : status.substr(number_at, 3)) {
    if (digit < '0' || digit > '9') return wrong_answer("without a status");
    head.status = head.status * 10 + static_cast<unsigned>(digit - '0');
  }
  std::string_view rest = line_end == std::string_view::npos ? "" : text.substr(line_end + 2);
  while (!rest.empty()) {
    const std::size_t end = rest.find("\r\n");
    const std::string_view line = rest.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return wrong_answer("a header without a colon");
    head.headers.add(line.substr(0, colon), trimmed(line.substr(colon + 1)));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 2);
  }
  return head;
}

// Reads up to the empty line; puts the bytes behind it into `early`.
Result<ResponseHead> read_head(Stream& stream, Deadline deadline, std::string& early) {
  std::string text;
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const std::size_t end = text.find("\r\n\r\n");
    if (end != std::string::npos) {
      early = text.substr(end + 4);
      return parse_head(std::string_view(text).substr(0, end));
    }
    if (text.size() > response_bytes_max) return wrong_answer("more headers than fit");
    auto count = stream.read_some(buffer, deadline);
    if (!count) return count.error();
    if (*count == 0) return wrong_answer("nothing and closed");
    text.append(reinterpret_cast<const char*>(buffer.data()), *count);
  }
}

// Section 4.1: the checks that a client has to make.
Result<void> check_head(const ResponseHead& head, std::string_view key,
                        const WebSocketUpgradeOptions& options) {
  constexpr unsigned switching_protocols = 101;
  if (head.status != switching_protocols) {
    return wrong_answer("with status " + std::to_string(head.status));
  }
  if (!has_token(head.headers, "Upgrade", "websocket") ||
      !has_token(head.headers, "Connection", "upgrade")) {
    return wrong_answer("101, but not to a WebSocket");
  }
  if (head.headers.find("Sec-WebSocket-Accept") != accept_of(key)) {
    return wrong_answer("with the wrong key (Sec-WebSocket-Accept)");
  }
  const std::string_view protocol = head.headers.find("Sec-WebSocket-Protocol");
  if (!protocol.empty() &&
      std::ranges::find(options.protocols, protocol) == options.protocols.end()) {
    return wrong_answer("the protocol \"" + std::string(protocol) + "\", which was not offered");
  }
  return {};
}

// Returns what the server has agreed on, of what was offered.
Result<std::optional<WebSocketDeflate>> check_extensions(const ResponseHead& head, bool deflates) {
  const auto extensions = detail::read_websocket_extensions(head.headers);
  if (!extensions) return wrong_answer("with malformed extensions");
  if (extensions->empty()) return std::optional<WebSocketDeflate>();
  const auto deflate = deflates && extensions->size() == 1
                           ? detail::read_deflate_answer(extensions->front())
                           : std::nullopt;
  if (!deflate) return wrong_answer("an extension that was not asked for");
  return deflate;
}

bool is_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

// Fails with invalid_argument for a request that HTTP cannot carry.
Result<std::string> make_request(const HostPort& host, std::string_view target,
                                 std::string_view key, const WebSocketUpgradeOptions& options) {
  HttpHeaders headers = options.headers;
  headers.add("Sec-WebSocket-Key", key);
  headers.add("Sec-WebSocket-Version", version);
  std::string offered;
  for (const std::string& protocol : options.protocols) {
    offered.append(offered.empty() ? "" : ", ").append(protocol);
  }
  if (!offered.empty()) headers.add("Sec-WebSocket-Protocol", offered);

  if (options.deflates) headers.add("Sec-WebSocket-Extensions", detail::websocket_deflate_offer);

  std::string text = "GET " + std::string(target) + " HTTP/1.1\r\nHost: " +
                     to_string(Endpoint{.address = host.host, .port = host.port}) +
                     "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
  bool is_right =
      target.starts_with('/') && is_line(target) && !target.contains(' ') && is_line(host.host);
  for (const auto& [name, value] : headers) {
    is_right = is_right && !name.empty() && is_line(name) && !name.contains(':') && is_line(value);
    text.append(name).append(": ").append(value).append("\r\n");
  }
  if (!is_right) {
    return Error(Code::invalid_argument,
                 "WebSocket: HTTP cannot carry this request for " + std::string(target));
  }
  return text.append("\r\n");
}

}  // namespace

Result<WebSocketOpening> ask_for_websocket(Stream& stream, const HostPort& host,
                                           std::string_view target, Deadline deadline,
                                           const WebSocketUpgradeOptions& options) {
  std::array<std::byte, 16> random;
  fill_with_random_bytes(random);
  const std::string key = to_base64(random);
  auto text = make_request(host, target, key, options);
  if (!text) return text.error();
  if (auto sent = stream.write_all(bytes_of(*text), deadline); !sent) return sent.error();
  std::string early;
  auto head = read_head(stream, deadline, early);
  if (!head) return head.error();
  if (auto right = check_head(*head, key, options); !right) return right.error();
  auto deflate = check_extensions(*head, options.deflates);
  if (!deflate) return deflate.error();
  return WebSocketOpening{.early = std::move(early), .deflate = *deflate};
}

Result<std::unique_ptr<WebSocket>> connect_websocket(Network& network, const HostPort& host,
                                                     std::string_view target, Deadline deadline,
                                                     const WebSocketUpgradeOptions& options) {
  if (auto text = make_request(host, target, "", options); !text) return text.error();
  auto stream = connect_to(network, host, deadline);
  if (!stream) return stream.error();
  auto opening = ask_for_websocket(**stream, host, target, deadline, options);
  if (!opening) return opening.error();
  return std::make_unique<WebSocket>(*std::move(stream), WebSocket::Role::client, options.websocket,
                                     bytes_of(opening->early), opening->deflate);
}

}  // namespace corolane::net
