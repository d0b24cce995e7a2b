// The admin pages of a running node, as the commands that show them get there.
//
// All of them take HOST:PORT first, which is node.admin of the node, and the same options; without
// HOST:PORT they go to the node that COROLANE_ADMIN in the environment names.
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

// What the help of each such command ends with.
extern const std::string_view admin_help;

inline constexpr std::chrono::seconds admin_patience{5};

struct AdminDoor {
  net::HostPort peer;
  std::string token;  // Empty: it asks for none.
};

// Where the words and options of `command` lead, with the words that are left. Misused when they
// name no node, or when the token cannot be read.
std::expected<AdminDoor, Failure> find_admin_door(std::string_view command,
                                                  const Arguments& arguments,
                                                  std::vector<std::string>& words);

// "127.0.0.1:8461".
std::string to_string(const AdminDoor& door);

struct PageRequest {
  std::string_view method = "GET";
  std::string target;  // "/tasks?state=ready".
};

// What `door` is to be asked, with its token.
net::HttpRequest to_http(const AdminDoor& door, const PageRequest& request);

// The body of what the node answers. Suspends. Fails when it does not, and with another status than
// one of success, which is told with what the node says of it and what to do.
Outcome ask_page(net::Network& network, const AdminDoor& door, const PageRequest& request,
                 Deadline deadline);

// Why a page was not answered as it should have been.
Failure page_failure(const AdminDoor& door, const PageRequest& request,
                     const net::HttpResponse& response);

}  // namespace corolane::tools::cli
