// SPDX-License-Identifier: MIT
#include "framework/directory/detail/etcd_login.h"

#include <utility>

#include "framework/directory/detail/etcd_json.h"
#include "net/http/http.h"

namespace corolane::framework::detail {
namespace {

// Drops maybe_executed: a login has no effect that a caller has asked for.
Error without_effect(const Error& error) { return Error(error.code(), error.message()); }

}  // namespace

Result<std::string> EtcdLogin::token(const net::HostPort& member, Deadline deadline) {
  if (!has_user()) return "";
  return tokens_.get(options_.user, [&] { return ask(member, deadline); }, deadline);
}

Result<std::string> EtcdLogin::ask(const net::HostPort& member, Deadline deadline) {
  const net::HttpRequest request{.method = "POST",
                                 .target = "/v3/auth/authenticate",
                                 .body = EtcdJson::authenticate(options_.user, options_.password)};
  auto response = net::fetch_http(network_, member, request, deadline);
  if (!response) return without_effect(etcd_out_of_reach(std::move(response.error())));
  if (auto checked = check_etcd_answer(response->status, response->body); !checked) {
    if (!is_etcd_without_users(checked.error())) return without_effect(checked.error());
    return "";
  }
  return EtcdJson::read_token(response->body);
}

void EtcdLogin::forget(const std::string& token) {
  const std::string* const known = tokens_.find(options_.user);
  if (known != nullptr && *known == token) tokens_.forget(options_.user);
}

Error etcd_out_of_reach(Error error) {
  switch (error.code()) {
    case Code::cancelled:
    case Code::deadline_exceeded:
    case Code::resource_exhausted:
    case Code::unavailable:
      return error;
    default:
      break;
  }
  Error away(Code::unavailable, error.message());
  return error.maybe_executed() ? std::move(away).with_maybe_executed() : away;
}

}  // namespace corolane::framework::detail
