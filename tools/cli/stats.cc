#include "tools/cli/stats.h"

#include <array>
#include <chrono>

#include "net/http.h"
#include "tools/cli/on_network.h"
#include "tools/cli/stats_text.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view help =
    R"(Usage: corolane stats HOST:PORT [--json]

Prints what a running node has done so far, from its admin pages: HOST:PORT is
node.admin of its configuration.

  --json   print it as the node has it, in JSON
  --help   print this, and exit

  corolane stats 127.0.0.1:8461

Exit status: 0 printed, 1 the node did not answer, 2 wrong usage.
)";

constexpr auto options = std::to_array<OptionRule>({{.name = "--json"}});

constexpr std::chrono::seconds patience{5};

Outcome run(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.empty()) return wrong_usage("stats", "needs HOST:PORT");
  if (words.size() > 1) return wrong_usage("stats", "stray argument \"" + words[1] + "\"");
  const auto peer = net::parse_host_port(words[0]);
  if (!peer) return wrong_usage("stats", peer.error().message());

  const auto json =
      run_on_network([&](net::Network& network) { return fetch_stats(network, *peer); });
  if (!json || arguments.has("--json")) return json;
  const auto text = stats_text(*json);
  if (!text) return failed("corolane: " + text.error().message());
  return *text;
}

}  // namespace

constexpr Command stats_command = {
    .name = "stats",
    .summary = "prints what a node has done so far",
    .help = help,
    .options = options,
    .run = run,
};

Outcome fetch_stats(net::Network& network, const net::HostPort& peer) {
  const net::HttpRequest request = {.method = "GET", .target = "/stats", .body = {}, .headers = {}};
  const auto response = net::fetch_http(network, peer, request, Deadline::after(patience));
  if (!response) return std::unexpected(no_connection(response.error(), "node.admin"));
  if (response->status != 200) {
    return failed("corolane: /stats of " + peer.host + ":" + std::to_string(peer.port) +
                  " is answered with status " + std::to_string(response->status) +
                  ": are these the admin pages of a node?");
  }
  return response->body;
}

}  // namespace corolane::tools::cli
