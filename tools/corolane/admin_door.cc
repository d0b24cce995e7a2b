// SPDX-License-Identifier: MIT
#include "tools/corolane/admin_door.h"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "tools/corolane/on_network.h"

namespace corolane::tools::cli {
namespace {

constexpr const char* variable = "COROLANE_ADMIN";

// Pages have at most some thousands of rows; a trace has all events of a ring.
constexpr net::HttpOptions page_limits = {.body_bytes_max = std::size_t{256} * 1024 * 1024};

bool looks_like_address(const std::string& word) {
  return word.starts_with("unix:") || (!word.contains('/') && net::parse_host_port(word));
}

std::expected<std::string, Failure> read_token(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  if (!std::getline(file, token) || token.empty()) {
    return misused("corolane: --token: cannot read a token from " + path +
                   ": give the file that node.admin.token_file of the node names");
  }
  return token;
}

std::string in_one_line(std::string_view text) {
  return std::string(text.substr(0, text.find_last_not_of('\n') + 1));
}

}  // namespace

constexpr std::string_view admin_help = R"(
HOST:PORT is node.admin.listen of the node, or unix:/PATH; without it, the
command uses the address in COROLANE_ADMIN in the environment.

  --token FILE         the token of the pages: node.admin.token_file of the node
  --tls FILE           use TLS; FILE has the CA certificate of the node, PEM
  --certificate FILE   the client certificate for a node that demands one, PEM
  --key FILE           the private key of the client certificate, PEM
  --help               print this text

Exit status: 0 success, 1 no answer or a refusal, 2 wrong usage.
)";

std::expected<AdminDoor, Failure> find_admin_door(std::string_view command,
                                                  const Arguments& arguments,
                                                  std::vector<std::string>& words) {
  words = arguments.words;
  const char* const given = std::getenv(variable);
  std::string address = given == nullptr ? "" : given;
  const bool is_named = !words.empty() && looks_like_address(words.front());
  if (is_named || (!words.empty() && address.empty())) {
    address = words.front();
    words.erase(words.begin());
  }
  if (address.empty()) {
    return wrong_usage(command, "needs HOST:PORT, or COROLANE_ADMIN in the environment");
  }
  const auto peer = net::parse_host_port(address);
  if (!peer) {
    return wrong_usage(
        command,
        std::string(is_named || given == nullptr || *given == '\0' ? "" : "COROLANE_ADMIN: ") +
            peer.error().message());
  }
  AdminDoor door{.peer = *peer, .token = {}};
  if (const auto path = arguments.options.find("--token"); path != arguments.options.end()) {
    auto token = read_token(path->second);
    if (!token) return std::unexpected(token.error());
    door.token = *std::move(token);
  }
  return door;
}

std::string to_string(const AdminDoor& door) {
  return net::to_string(net::Endpoint{door.peer.host, door.peer.port});
}

net::HttpRequest to_http(const AdminDoor& door, const PageRequest& request) {
  net::HttpRequest http = {
      .method = std::string(request.method), .target = request.target, .body = {}, .headers = {}};
  if (!door.token.empty()) http.headers.add("Authorization", "Bearer " + door.token);
  return http;
}

Outcome ask_page(net::Network& network, const AdminDoor& door, const PageRequest& request,
                 Deadline deadline) {
  auto response =
      net::fetch_http(network, door.peer, to_http(door, request), deadline, page_limits);
  if (!response) return std::unexpected(no_connection(response.error(), "node.admin.listen"));
  if (response->status >= 200 && response->status < 300) return std::move(response->body);
  return std::unexpected(page_failure(door, request, *response));
}

Failure page_failure(const AdminDoor& door, const PageRequest& request,
                     const net::HttpResponse& response) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  const std::string said = in_one_line(response.body);
  if (response.status == 401) {
    return {Failure::Kind::failed,
            "corolane: " + to_string(door) + " requires " +
                (door.token.empty() ? "a token" : "another token") +
                ": give --token FILE, the node.admin.token_file of the node"};
  }
  if ((response.status == 404 && said.starts_with("no page ")) || response.status == 405) {
    return {Failure::Kind::failed, "corolane: the node at " + to_string(door) + " does not know " +
                                       std::string(request.method) + " " + path +
                                       ": it may be an older version; corolane page " +
                                       to_string(door) + " / lists its pages"};
  }
  std::string message = "corolane: " + path + " of " + to_string(door) + " returned status " +
                        std::to_string(response.status) + ": ";
  const bool is_ours = !said.empty() && !said.starts_with('<');
  return {Failure::Kind::failed,
          message + (is_ours ? said : "are these the admin pages of a node?")};
}

}  // namespace corolane::tools::cli
