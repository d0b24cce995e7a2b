#include "tools/cli/page.h"

#include <chrono>
#include <string>

#include "net/http.h"
#include "tools/cli/on_network.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view help =
    R"(Usage: corolane page HOST:PORT PATH

Prints an admin page of a running node: HOST:PORT is node.admin of its
configuration, PATH the page. The page "/" lists all. Where there is no curl,
or as a probe of a container: it fails when the answer is not 200.

  --help   print this, and exit

  corolane page 127.0.0.1:8461 /health
  corolane page 127.0.0.1:8461 /objects

Exit status: 0 printed, 1 no answer within 5 s or another one than 200, 2 wrong
usage.
)";

constexpr std::chrono::seconds patience{5};

Outcome fetch_page(net::Network& network, const net::HostPort& peer, const std::string& path) {
  const net::HttpRequest request = {.method = "GET", .target = path, .body = {}, .headers = {}};
  auto response = net::fetch_http(network, peer, request, Deadline::after(patience));
  if (!response) return std::unexpected(no_connection(response.error(), "node.admin"));
  if (response->status == 200) return std::move(response->body);
  std::string message = "corolane: " + path + " is answered with status " +
                        std::to_string(response->status) + ": " + response->body;
  while (message.ends_with('\n')) message.pop_back();
  return failed(std::move(message));
}

Outcome run(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.size() < 2) return wrong_usage("page", "needs HOST:PORT and PATH");
  if (words.size() > 2) return wrong_usage("page", "stray argument \"" + words[2] + "\"");
  const auto peer = net::parse_host_port(words[0]);
  if (!peer) return wrong_usage("page", peer.error().message());
  if (!words[1].starts_with('/')) {
    return wrong_usage("page", "\"" + words[1] + "\" is no path: it begins with a slash");
  }
  return run_on_network(
      [&](net::Network& network) { return fetch_page(network, *peer, words[1]); });
}

}  // namespace

constexpr Command page_command = {
    .name = "page",
    .summary = "prints an admin page of a node",
    .help = help,
    .options = {},
    .run = run,
};

}  // namespace corolane::tools::cli
