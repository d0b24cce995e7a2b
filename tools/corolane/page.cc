// SPDX-License-Identifier: MIT
#include "tools/corolane/page.h"

#include <string>
#include <vector>

#include "tools/corolane/admin_door.h"
#include "tools/corolane/on_network.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view page_help =
    R"(Usage: corolane page [HOST:PORT] PATH

Prints the admin page PATH of a running node. The page "/" lists all pages. Use
it where there is no curl, or as a container probe: it fails when the status of
the answer is not a success.

  corolane page 127.0.0.1:8461 /health
  corolane page 127.0.0.1:8461 "/objects?format=json"
)";

Outcome run_page(const Arguments& arguments) {
  std::vector<std::string> words;
  const auto door = find_admin_door("page", arguments, words);
  if (!door) return std::unexpected(door.error());
  if (words.empty()) return wrong_usage("page", "needs PATH");
  if (words.size() > 1) return wrong_usage("page", "stray argument \"" + words[1] + "\"");
  if (!words[0].starts_with('/')) {
    return wrong_usage("page", "\"" + words[0] + "\" is not a path: a path begins with a slash");
  }
  return run_on_network(arguments, [&](net::Network& network) {
    return ask_page(network, *door, {.method = "GET", .target = words[0]},
                    Deadline::after(admin_patience));
  });
}

}  // namespace

constexpr Command page_command = {
    .name = "page",
    .summary = "prints an admin page of a node",
    .help = page_help,
    .options = {},
    .run = run_page,
    .asks_pages = true,
};

}  // namespace corolane::tools::cli
