// SPDX-License-Identifier: MIT
#include "tools/corolane/drain.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/units.h"
#include "coroutine/task.h"
#include "tools/corolane/admin_door.h"
#include "tools/corolane/on_network.h"

namespace corolane::tools::cli {
namespace {

using Json = nlohmann::json;
using std::chrono_literals::operator""ms;

constexpr std::string_view drain_help =
    R"(Usage: corolane drain [HOST:PORT] [--wait] [--timeout DURATION] [--json]

Starts the graceful shutdown of a node, as SIGTERM does: it takes no more calls,
hands over its objects, lets running calls finish and exits.

  --wait               wait until the node has ended, and report its progress
  --timeout DURATION   wait at most this long; by default 2min
  --json               print the answer of the node as JSON

  corolane drain 127.0.0.1:8461 --wait
)";

constexpr auto drain_options = std::to_array<OptionRule>(
    {{.name = "--wait"}, {.name = "--timeout", .has_value = true}, {.name = "--json"}});

constexpr std::chrono::milliseconds interval = 200ms;

// The work that a stopping node still has.
struct Rest {
  std::int64_t pid;
  std::string text;
};

std::optional<Rest> rest_of(const std::string& stats) {
  const Json json = Json::parse(stats, nullptr, /*allow_exceptions=*/false);
  try {
    const auto& rpc = json.at("rpc");
    return Rest{.pid = json.at("node").at("pid").get<std::int64_t>(),
                .text = std::to_string(rpc.at("running").get<std::int64_t>()) + " calls running, " +
                        std::to_string(json.at("objects").at("active").get<std::int64_t>()) +
                        " objects active, " +
                        std::to_string(rpc.at("connections").get<std::int64_t>()) + " connections"};
  } catch (const Json::exception&) {
    return {};
  }
}

// Waits until nothing listens there any more, or another process does.
Outcome wait_for_end(net::Network& network, const AdminDoor& door, std::optional<Rest> before,
                     Deadline deadline) {
  const PageRequest stats{.method = "GET", .target = "/stats"};
  std::string told;
  while (!deadline.has_passed()) {
    const auto response = net::fetch_http(network, door.peer, to_http(door, stats),
                                          earlier(deadline, Deadline::after(admin_patience)));
    if (!response && response.error().code() == Code::unavailable) return "It has ended.\n";
    const auto rest = response ? rest_of(response->body) : std::nullopt;
    if (rest && before && rest->pid != before->pid) return "It has ended, and was started again.\n";
    if (rest && rest->text != told) {
      told = rest->text;
      std::cerr << "stopping: " << told << std::endl;
    }
    static_cast<void>(coroutine::sleep_for(interval));
  }
  return failed("corolane: the node at " + to_string(door) + " has not ended" +
                (told.empty() ? "" : ": " + told) +
                "; corolane tasks shows what it waits for, SIGKILL ends it");
}

Outcome run_drain(const Arguments& arguments) {
  std::vector<std::string> words;
  const auto door = find_admin_door("drain", arguments, words);
  if (!door) return std::unexpected(door.error());
  if (!words.empty()) return wrong_usage("drain", "stray argument \"" + words[0] + "\"");
  Duration patience = std::chrono::minutes(2);
  if (const auto option = arguments.options.find("--timeout"); option != arguments.options.end()) {
    const auto timeout = config::parse_duration(option->second);
    if (!timeout) return wrong_usage("drain", "--timeout: " + timeout.error().message());
    patience = *timeout;
  }
  return run_on_network(arguments, [&](net::Network& network) -> Outcome {
    const Deadline deadline = Deadline::after(patience);
    std::optional<Rest> before;
    if (arguments.has("--wait")) {
      const auto stats = ask_page(network, *door, {.method = "GET", .target = "/stats"},
                                  Deadline::after(admin_patience));
      if (stats) before = rest_of(*stats);
    }
    auto answer = ask_page(
        network, *door,
        {.method = "POST", .target = arguments.has("--json") ? "/drain?format=json" : "/drain"},
        Deadline::after(admin_patience));
    if (!answer || !arguments.has("--wait")) return answer;
    std::cerr << *answer;
    return wait_for_end(network, *door, std::move(before), deadline);
  });
}

}  // namespace

constexpr Command drain_command = {
    .name = "drain",
    .summary = "shuts a node down gracefully",
    .help = drain_help,
    .options = drain_options,
    .run = run_drain,
    .asks_pages = true,
};

}  // namespace corolane::tools::cli
