// SPDX-License-Identifier: MIT
#include "framework/admin/detail/gate.h"

#include <span>
#include <string_view>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/encoding.h"
#include "coroutine/sync/event.h"
#include "framework/admin/admin.h"
#include "framework/telemetry/log.h"
#include "net/crypto.h"
#include "net/endpoint.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view bearer = "Bearer ";
constexpr std::string_view basic = "Basic ";

// The credentials that a request shows. The user name is whatever the client wrote.
struct Credentials {
  std::string user;
  std::string token;
};

// Reads a bearer token, or the password of `user:password` (RFC 7617).
Credentials credentials_of(std::string_view header) {
  if (header.starts_with(bearer)) {
    return {.user = {}, .token = std::string(header.substr(bearer.size()))};
  }
  if (!header.starts_with(basic)) return {};
  const auto decoded = from_base64(header.substr(basic.size()));
  if (!decoded) return {};
  const std::size_t colon = decoded->find(':');
  if (colon == std::string::npos) return {};
  return {.user = decoded->substr(0, colon), .token = decoded->substr(colon + 1)};
}

// An empty token is no token.
bool is_token(std::string_view shown, std::string_view token) {
  return !token.empty() && net::equal_in_constant_time(std::as_bytes(std::span(shown)),
                                                       std::as_bytes(std::span(token)));
}

// True for "localhost", "127.0.0.1:8461" and "[::1]:8461", which no site can make its own.
bool is_this_machine(std::string_view host) {
  const bool has_port = host.contains(':') && !host.ends_with(']');
  const auto parsed = net::parse_host_port(std::string(host) + (has_port ? "" : ":80"));
  if (!parsed) return false;
  if (net::is_same_name(parsed->host, "localhost")) return true;
  const auto endpoint =
      net::parse_endpoint(net::to_string({.address = parsed->host, .port = parsed->port}));
  return endpoint && is_local(*endpoint);
}

net::HttpResponse asked_for_token() {
  return {.status = 401,
          .body =
              "the pages of this node need its token (node.admin.token_file): use curl -H "
              "'Authorization: Bearer TOKEN', or enter it as the password in a browser\n",
          .headers = {{"WWW-Authenticate", "Basic realm=\"corolane\", charset=\"UTF-8\""}}};
}

net::HttpResponse wrong_host() {
  return {
      .status = 403,
      .body =
          "without a token these pages are served only to this machine: open them as localhost or "
          "by a loopback address, as in http://127.0.0.1:8461/, or set node.admin.token_file\n"};
}

}  // namespace

std::expected<AdminVisitor, net::HttpResponse> AdminGate::admit(const net::HttpRequest& request) {
  const std::string_view header = request.header("Authorization");
  Credentials credentials = credentials_of(header);
  AdminVisitor visitor{.may_act = true, .name = std::move(credentials.user)};
  if (!request.peer_identity.empty()) visitor.name = request.peer_identity;
  if (options_.token.empty() && options_.look_token.empty()) {
    if (!options_.is_on_network || is_this_machine(request.header("Host"))) return visitor;
    return std::unexpected(wrong_host());
  }
  // Both are compared, so that the time says nothing about either.
  const bool may_act = is_token(credentials.token, options_.token);
  const bool may_look = is_token(credentials.token, options_.look_token);
  visitor.may_act = may_act;
  if (may_act || may_look) return visitor;
  // A browser sends no credentials before it is asked for them.
  if (!header.empty()) {
    log_wrong_token(request);
    pause();
  }
  return std::unexpected(asked_for_token());
}

void AdminGate::log_wrong_token(const net::HttpRequest& request) {
  const TimePoint time = now();
  while (!logged_at_.empty() && time - logged_at_.front() >= 1min) logged_at_.pop_front();
  if (options_.log == nullptr || logged_at_.size() >= options_.logged_per_minute_max) {
    ++unlogged_count_;
    return;
  }
  logged_at_.push_back(time);
  options_.log->warning("a request to the admin endpoint shows a wrong token",
                        {{"peer", request.peer},
                         {"path", request.path()},
                         {"not_told_before", std::exchange(unlogged_count_, 0)}});
}

void AdminGate::pause() {
  if (paused_count_ >= options_.paused_count_max) return;
  ++paused_count_;
  // The task of a peer that has finished sending is cancelled; the pause must last all the same.
  coroutine::Event nothing("pause after a wrong token");
  nothing.wait_uncancelled(Deadline::after(options_.wrong_token_pause));
  --paused_count_;
}

}  // namespace corolane::framework::detail
