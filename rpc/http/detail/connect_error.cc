// SPDX-License-Identifier: MIT
#include "rpc/http/detail/connect_error.h"

#include <chrono>
#include <utility>

#include "coroutine/base/encoding.h"
#include "coroutine/base/text.h"
#include "rpc/error_details.h"
#include "rpc/http/detail/json_text.h"

namespace corolane::rpc::detail {

namespace {

void append_details(std::string& json, const Error& error) {
  char separator = '[';
  for (const ErrorMessage& message : messages_of(error)) {
    if (separator == '[') json += R"(,"details":)";
    json += std::exchange(separator, ',');
    json += R"({"type":)";
    append_json_string(json, message.type);
    json += R"(,"value":")";
    append_base64(json, message.bytes, Base64::unpadded);
    json += R"("})";
  }
  if (separator == ',') json += ']';
}

}  // namespace

unsigned http_status_of(Code code) {
  switch (code) {
    case Code::cancelled:
      return 499;
    case Code::invalid_argument:
    case Code::failed_precondition:
    case Code::out_of_range:
      return 400;
    case Code::deadline_exceeded:
      return 504;
    case Code::not_found:
      return 404;
    case Code::already_exists:
    case Code::aborted:
      return 409;
    case Code::permission_denied:
      return 403;
    case Code::resource_exhausted:
      return 429;
    case Code::unimplemented:
      return 501;
    case Code::unavailable:
      return 503;
    case Code::unauthenticated:
      return 401;
    case Code::unknown:
    case Code::internal:
    case Code::data_loss:
      return 500;
  }
  return 500;
}

void append_connect_error(std::string& json, const Error& error) {
  // The only name that Connect spells differently.
  const std::string_view name =
      error.code() == Code::cancelled ? "canceled" : to_string(error.code());
  json.append(R"({"code":")").append(name).append("\"");
  if (!error.message().empty()) {
    json += R"(,"message":)";
    append_json_string(json, to_utf8(error.message(), "?"));
  }
  append_details(json, error);
  json += '}';
}

void answer_with(const Error& error, net::HttpResponse& response) {
  answer_with(error, http_status_of(error.code()), response);
}

void answer_with(const Error& error, unsigned status, net::HttpResponse& response) {
  response.status = status;
  response.content_type = "application/json";
  response.body.clear();
  append_connect_error(response.body, error);
  if (error.retry_after().count() > 0) {
    const auto delay = std::chrono::ceil<std::chrono::seconds>(error.retry_after());
    response.headers.add("Retry-After", std::to_string(delay.count()));
  }
  if (error.not_executed()) response.headers.add("Corolane-Executed", "no");
  if (error.is_from_handler()) response.headers.add("Corolane-Error-From", "handler");
}

}  // namespace corolane::rpc::detail
