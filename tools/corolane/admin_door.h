// SPDX-License-Identifier: MIT
// Access to the admin pages of a running node, shared by the commands that show them.
//
// All of them take HOST:PORT first, which is node.admin.listen of the node, and the same options.
// Without HOST:PORT they use the address in COROLANE_ADMIN in the environment.
#pragma once

#include <array>
#include <chrono>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/deadline.h"
#include "net/endpoint.h"
#include "net/http/http.h"
#include "net/network.h"
#include "tools/corolane/command.h"
#include "tools/tls_option.h"

namespace corolane::tools::cli {

inline constexpr std::array admin_option_rules = {OptionRule{.name = "--token", .has_value = true},
                                                  tls_option_rules[0], tls_option_rules[1],
                                                  tls_option_rules[2]};

// The end of the help of each such command.
extern const std::string_view admin_help;

inline constexpr std::chrono::seconds admin_patience{5};

struct AdminDoor {
  net::HostPort peer;
  std::string token;  // Empty: no token is sent.
};

// The node that the arguments of `command` name; `words` receives the remaining words. Misused when
// they name no node, or when the token cannot be read.
std::expected<AdminDoor, Failure> find_admin_door(std::string_view command,
                                                  const Arguments& arguments,
                                                  std::vector<std::string>& words);

// "127.0.0.1:8461".
std::string to_string(const AdminDoor& door);

struct PageRequest {
  std::string_view method = "GET";
  std::string target;  // "/tasks?state=ready".
};

// The request as HTTP, with the token of `door`.
net::HttpRequest to_http(const AdminDoor& door, const PageRequest& request);

// Returns the body of the node's answer. Suspends. Fails when no answer comes, or when its status
// is not a success; the failure has the node's message and a remedy.
Outcome ask_page(net::Network& network, const AdminDoor& door, const PageRequest& request,
                 Deadline deadline);

// The failure of a page that was answered without success.
Failure page_failure(const AdminDoor& door, const PageRequest& request,
                     const net::HttpResponse& response);

}  // namespace corolane::tools::cli
