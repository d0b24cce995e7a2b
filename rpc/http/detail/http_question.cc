// SPDX-License-Identifier: MIT
#include "rpc/http/detail/http_question.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "coroutine/base/encoding.h"
#include "net/http/percents.h"
#include "rpc/http/detail/connect_error.h"
#include "rpc/http/detail/json_text.h"
#include "rpc/server/detail/served_method.h"
#include "rpc/wire/wire.pb.h"

namespace corolane::rpc::detail {
namespace {

namespace pb = google::protobuf;

// Connect-Timeout-Ms has at most this many digits, which is 115 days.
constexpr std::size_t timeout_digits_max = 10;

constexpr std::string_view token_key = "access_token";

constexpr std::string_view events_type = "text/event-stream";

// Headers that say how a message travels, or that this face reads. The token of a client is not for
// handlers: they see its principal.
bool is_reserved(std::string_view name) {
  constexpr std::string_view names[] = {"accept-encoding",
                                        "authorization",
                                        "connection",
                                        "content-encoding",
                                        "content-length",
                                        "content-type",
                                        "date",
                                        "expect",
                                        "host",
                                        "keep-alive",
                                        "te",
                                        "traceparent",
                                        "trailer",
                                        "transfer-encoding",
                                        "upgrade",
                                        "vary"};
  const auto begins = [&](std::string_view start) {
    return net::is_same_name(name.substr(0, start.size()), start);
  };
  return std::ranges::any_of(names,
                             [&](std::string_view n) { return net::is_same_name(n, name); }) ||
         begins("access-control-") || begins("connect-") || begins("corolane-") ||
         begins("proxy-") || begins("trailer-");
}

char in_small_letters(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

constexpr Format formats[] = {{.codec = Codec::json},
                              {.codec = Codec::proto},
                              {.codec = Codec::json, .framing = Framing::envelopes},
                              {.codec = Codec::proto, .framing = Framing::envelopes}};

std::optional<Format> format_of(std::string_view type) {
  for (const Format format : formats) {
    if (net::is_same_name(without_parameters(type), type_of(format))) return format;
  }
  return std::nullopt;
}

bool has_no_side_effects(const Method& method) {
  const std::string_view name = method.full_name;
  const auto slash = name.find('/');
  const auto* const service =
      pb::DescriptorPool::generated_pool()->FindServiceByName(std::string(name.substr(0, slash)));
  const auto* const found =
      service == nullptr ? nullptr : service->FindMethodByName(std::string(name.substr(slash + 1)));
  return found != nullptr &&
         found->options().idempotency_level() == pb::MethodOptions::NO_SIDE_EFFECTS;
}

// Whether content has the coding gzip.
Result<bool> is_gzip(std::string_view coding) {
  if (coding.empty() || net::is_same_name(coding, "identity")) return false;
  if (net::is_same_name(coding, "gzip")) return true;
  return Error(Code::unimplemented, "the encoding \"" + std::string(coding) +
                                        "\" is not supported, only gzip and identity");
}

bool accepts_gzip(std::string_view list) { return net::is_listed(list, "gzip"); }

// /package.Service/Method?connect=v1&encoding=json&message=%7B%7D
Result<Question> question_of_get(const net::HttpRequest& request, const Method& method,
                                 std::string& got) {
  const std::string_view version = request.query("connect");
  if (!version.empty() && version != "v1") {
    return Error(Code::invalid_argument, "connect is v1, not \"" + std::string(version) + "\"");
  }
  const auto zipped = is_gzip(request.query("compression"));
  if (!zipped) return zipped.error();
  const std::string_view encoding = request.query("encoding");
  if (encoding != "json" && encoding != "proto") {
    return Error(Code::invalid_argument,
                 "encoding is json or proto, not \"" + std::string(encoding) + "\"");
  }
  if (method.is_stream() && encoding != "json") {
    return Error(Code::invalid_argument, "events are in JSON: encoding is json, not \"proto\"");
  }
  got.clear();
  bool is_read = net::read_percents(request.query("message"), ' ', got);
  if (is_read && request.query("base64") == "1") {
    std::string bytes;
    is_read = read_any_base64(got, bytes);
    got = std::move(bytes);
  }
  if (!is_read) return Error(Code::invalid_argument, "message is not in its stated encoding");
  return Question{.format = {.codec = encoding == "json" ? Codec::json : Codec::proto,
                             .framing = method.is_stream() ? Framing::events : Framing::none,
                             .accepts_gzip = accepts_gzip(request.header("Accept-Encoding"))},
                  .is_zipped = *zipped,
                  .message = got};
}

void refuse_type(const net::HttpRequest& request, const Method& method,
                 net::HttpResponse& response) {
  const Framing framing = method.is_stream() ? Framing::envelopes : Framing::none;
  const std::string json(type_of({.codec = Codec::json, .framing = framing}));
  const std::string proto(type_of({.codec = Codec::proto, .framing = framing}));
  response.headers.add("Accept-Post", json + ", " + proto);
  answer_with(Error(Code::unknown,
                    std::string(method.full_name) + " takes " + json + " or " + proto + ", not \"" +
                        std::string(without_parameters(request.header("Content-Type"))) + "\""),
              415, response);
}

// Fails with the error for the client; false when it has been answered.
Result<bool> question_of_post(const net::HttpRequest& request, const Method& method,
                              Question& question, net::HttpResponse& response) {
  const auto format = format_of(request.header("Content-Type"));
  if (!format || format->is_stream() != method.is_stream()) {
    refuse_type(request, method, response);
    return false;
  }
  const std::string_view version = request.header("Connect-Protocol-Version");
  if (!version.empty() && version != "1") {
    return Error(Code::invalid_argument,
                 "Connect-Protocol-Version is 1, not \"" + std::string(version) + "\"");
  }
  const std::string_view prefix = format->is_stream() ? "Connect-" : "";
  const auto named = [&](std::string_view name) {
    return request.header(std::string(prefix).append(name));
  };
  const auto zipped = is_gzip(named("Content-Encoding"));
  if (!zipped) return zipped.error();
  question = {.format = *format, .is_zipped = *zipped, .message = request.body};
  question.format.accepts_gzip = accepts_gzip(named("Accept-Encoding"));
  return true;
}

}  // namespace

std::string_view type_of(Format format) {
  if (format.framing == Framing::events) return events_type;
  if (format.is_stream()) {
    return format.codec == Codec::json ? "application/connect+json" : "application/connect+proto";
  }
  return format.codec == Codec::json ? "application/json" : "application/proto";
}

std::string_view without_parameters(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type;
}

bool may_get(const Method& method) {
  return !method.client_streaming && has_no_side_effects(method);
}

bool read_question(const net::HttpRequest& request, const Method& method, Question& question,
                   std::string& got, net::HttpResponse& response) {
  Result<bool> is_read = true;
  if (request.method == "GET" && may_get(method)) {
    if (method.is_stream() && !net::is_listed(request.header("Accept"), events_type)) {
      answer_with(Error(Code::unknown, std::string(method.full_name) +
                                           " is a stream: GET reads it with the header Accept: " +
                                           std::string(events_type)),
                  406, response);
      return false;
    }
    auto asked = question_of_get(request, method, got);
    if (asked) {
      question = *asked;
    } else {
      is_read = asked.error();
    }
  } else if (request.method == "POST") {
    is_read = question_of_post(request, method, question, response);
  } else {
    response.headers.add("Allow", may_get(method) ? "GET, POST" : "POST");
    answer_with(Error(Code::unknown, std::string(method.full_name) + " is called with POST"), 405,
                response);
    return false;
  }
  if (!is_read) answer_with(is_read.error(), response);
  return is_read.value_or(false);
}

Result<Envelope> take_envelope(std::string_view& body) {
  if (body.size() < envelope_head_bytes) {
    return Error(Code::invalid_argument, "the request has no message in an envelope");
  }
  const auto flags = static_cast<std::uint8_t>(body[0]);
  if ((flags & ~envelope_is_zipped) != 0) {
    return Error(Code::invalid_argument, "the envelope of the request has unknown flags");
  }
  std::size_t size = 0;
  for (const char byte : body.substr(1, 4)) size = size << 8 | static_cast<unsigned char>(byte);
  if (body.size() - envelope_head_bytes < size) {
    return Error(Code::invalid_argument, "the envelope of the request is cut off");
  }
  const Envelope envelope{.is_zipped = flags != 0,
                          .message = body.substr(envelope_head_bytes, size)};
  body.remove_prefix(envelope_head_bytes + size);
  return envelope;
}

Error unexpected_gzip() {
  return Error(Code::internal,
               "an envelope is compressed, but there is no Connect-Content-Encoding: gzip");
}

void append_envelope_head(std::string& text, std::uint8_t flags, std::size_t size) {
  text += static_cast<char>(flags);
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(size >> shift & 0xff);
}

Result<Deadline> deadline_of(const net::HttpRequest& request, const Method& method, Door door,
                             TimePoint arrived_at) {
  const std::string_view text = request.header("Connect-Timeout-Ms");
  if (text.empty()) return Deadline::at(arrived_at + method.timeout);
  std::uint64_t count = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem != std::errc() || end != text.data() + text.size() ||
      text.size() > timeout_digits_max) {
    return Error(Code::invalid_argument,
                 "Connect-Timeout-Ms is at most 10 digits, not \"" + std::string(text) + "\"");
  }
  const Deadline own = Deadline::at(arrived_at + std::chrono::milliseconds(count));
  return bounded(own, method, door, arrived_at);
}

Result<std::string> object_id_of(const net::HttpRequest& request) {
  std::string_view text = request.header("Corolane-Object");
  char plus = '+';
  if (text.empty() && request.method == "GET") {
    text = request.query("corolane-object");
    plus = ' ';
  }
  std::string id;
  if (!net::read_percents(text, plus, id)) {
    return Error(
        Code::invalid_argument,
        "Corolane-Object is percent-encoded, with %25 for a %, not \"" + std::string(text) + "\"");
  }
  return id;
}

void read_headers(const net::HttpRequest& request, RequestExtension& extension) {
  for (const auto& [name, value] : request.headers) {
    if (is_reserved(name)) continue;
    WireHeader& header = *extension.add_headers();
    std::string& small = *header.mutable_name();
    small = name;
    std::ranges::transform(small, small.begin(), in_small_letters);
    if (!is_binary(small)) {
      header.set_value(value.data(), value.size());
    } else if (!read_any_base64(value, *header.mutable_value())) {
      extension.mutable_headers()->RemoveLast();
    }
  }
}

void put_headers(const Headers& headers, std::string_view prefix, net::HttpResponse& response) {
  for (const auto& [name, value] : headers) {
    if (is_reserved(name)) continue;
    const std::string full = std::string(prefix).append(name);
    if (is_binary(name)) {
      response.headers.add(full, to_base64(value, Base64::unpadded));
    } else {
      response.headers.add(full, value);
    }
  }
}

void append_headers_json(std::string& json, const Headers& headers) {
  json += '{';
  std::vector<std::string_view> done;
  for (const auto& [name, first] : headers) {
    if (std::ranges::find(done, name) != done.end()) continue;
    if (!done.empty()) json += ',';
    done.push_back(name);
    append_json_string(json, name);
    char separator = '[';
    json += ':';
    for (const auto& [other, value] : headers) {
      if (other != name) continue;
      json += std::exchange(separator, ',');
      append_json_string(json,
                         is_binary(name) ? to_base64(value, Base64::unpadded) : std::string(value));
    }
    json += ']';
  }
  json += '}';
}

std::string_view bearer_token(const net::HttpRequest& request, std::string& decoded) {
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view text = request.header("Authorization");
  if (text.empty() && has_token_in_query(request)) {
    const std::string_view token = request.query(token_key);
    decoded.clear();
    // A malformed token is no valid one either: the login refuses it.
    return net::read_percents(token, ' ', decoded) ? std::string_view(decoded) : token;
  }
  if (!net::is_same_name(text.substr(0, scheme.size()), scheme)) return {};
  return text.substr(scheme.size());
}

bool has_token_in_query(const net::HttpRequest& request) {
  return request.method == "GET" && !request.query(token_key).empty();
}

}  // namespace corolane::rpc::detail
