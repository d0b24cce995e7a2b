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

// The password of `user:password`, RFC 7617; the user does not matter.
std::string password_of(std::string_view credentials) {
  const auto decoded = from_base64(credentials);
  if (!decoded) return {};
  const std::size_t colon = decoded->find(':');
  return colon == std::string::npos ? std::string() : decoded->substr(colon + 1);
}

bool shows(std::string_view credentials, std::string_view token) {
  std::string shown;
  if (credentials.starts_with(bearer)) shown = credentials.substr(bearer.size());
  if (credentials.starts_with(basic)) shown = password_of(credentials.substr(basic.size()));
  return net::equal_in_constant_time(std::as_bytes(std::span(shown)),
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
              "the pages of this node need its token (node.admin_token_file): use curl -H "
              "'Authorization: Bearer TOKEN', or enter it as the password in a browser\n",
          .headers = {{"WWW-Authenticate", "Basic realm=\"corolane\", charset=\"UTF-8\""}}};
}

net::HttpResponse wrong_host() {
  return {
      .status = 403,
      .body =
          "without a token these pages are served only to this machine: open them as localhost or "
          "by a loopback address, as in http://127.0.0.1:8461/, or set node.admin_token_file\n"};
}

}  // namespace

std::optional<net::HttpResponse> AdminGate::refusal(const net::HttpRequest& request) {
  if (options_.token.empty()) {
    if (!options_.is_on_network || is_this_machine(request.header("Host"))) return std::nullopt;
    return wrong_host();
  }
  const std::string_view credentials = request.header("Authorization");
  if (shows(credentials, options_.token)) return std::nullopt;
  // A browser sends no credentials before it is asked for them.
  if (!credentials.empty()) {
    log_wrong_token(request);
    pause();
  }
  return asked_for_token();
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
