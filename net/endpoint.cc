// SPDX-License-Identifier: MIT
#include "net/endpoint.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "net/detail/socket_address.h"

namespace corolane::net {
namespace {

Error wrong_form(std::string_view text) {
  return Error(Code::invalid_argument,
               "\"" + std::string(text) +
                   "\" is not of the form host:port: write \"example.org:80\", \"127.0.0.1:80\", "
                   "\"[::1]:80\" or, for a Unix socket, \"unix:/run/name.sock\"");
}

// A host named "unix" may still have a port.
bool names_unix_socket(std::string_view text) {
  return text.starts_with("unix:/") || text.starts_with("unix:@");
}

bool is_ipv6(const std::string& address) {
  return address.find(':') != std::string::npos &&
         detail::to_socket_address({.address = address}).has_value();
}

}  // namespace

bool is_unix(const Endpoint& endpoint) { return endpoint.address.starts_with("unix:"); }

bool is_unnamed(const Endpoint& endpoint) { return endpoint.address == "unix:"; }

std::string to_string(const Endpoint& endpoint) {
  if (is_unix(endpoint)) return endpoint.address;
  const bool is_v6 = endpoint.address.find(':') != std::string::npos;
  std::string text = is_v6 ? "[" + endpoint.address + "]" : endpoint.address;
  return text.append(":").append(std::to_string(endpoint.port));
}

std::ostream& operator<<(std::ostream& out, const Endpoint& endpoint) {
  return out << to_string(endpoint);
}

Result<HostPort> parse_host_port(std::string_view text) {
  if (names_unix_socket(text)) {
    HostPort parsed{.host = std::string(text)};
    if (auto fits = detail::to_socket_address({.address = parsed.host}); !fits) return fits.error();
    return parsed;
  }
  const bool bracketed = text.starts_with('[');
  const std::size_t host_end = bracketed ? text.find("]:") : text.rfind(':');
  if (host_end == std::string_view::npos) return wrong_form(text);

  HostPort parsed;
  parsed.host = bracketed ? text.substr(1, host_end - 1) : text.substr(0, host_end);
  if (parsed.host.empty()) return wrong_form(text);
  if (bracketed ? !is_ipv6(parsed.host) : parsed.host.find(':') != std::string::npos) {
    return wrong_form(text);
  }

  const std::string_view port = text.substr(host_end + (bracketed ? 2 : 1));
  const auto [end, failed] = std::from_chars(port.begin(), port.end(), parsed.port);
  if (failed != std::errc() || end != port.end()) return wrong_form(text);
  return parsed;
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  auto parsed = parse_host_port(text);
  if (!parsed) return parsed.error();
  auto address =
      detail::to_socket_address({.address = std::move(parsed->host), .port = parsed->port});
  if (!address) return address.error();
  // In the kernel's notation, so that equal endpoints are equal texts.
  return detail::to_endpoint(*address);
}

}  // namespace corolane::net
