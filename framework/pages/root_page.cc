// SPDX-License-Identifier: MIT
// /: the state of the node, and the list of pages by what they answer.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/admin/admin.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/state_words.h"
#include "framework/telemetry/version.h"

namespace corolane::framework::detail {
namespace {

struct PageGroup {
  std::string_view name;
  // The first parts of their paths, in the order in which they are shown.
  std::vector<std::string_view> parts;
};

// Pages that a program adds are in a last group of their own.
const std::vector<PageGroup>& page_groups() {
  static const std::vector<PageGroup> groups = {
      {.name = "now",
       .parts = {"", "cluster", "objects", "connections", "sessions", "users", "kick", "slow",
                 "log", "move"}},
      {.name = "who waits", .parts = {"waits", "tasks", "stalls"}},
      {.name = "cost", .parts = {"methods", "sites", "profile", "trace", "heap"}},
      {.name = "machine",
       .parts = {"stats", "history", "metrics", "ready", "health", "config", "drain"}}};
  return groups;
}

constexpr std::string_view last_group = "of this program";

std::string_view first_part(std::string_view path) {
  path.remove_prefix(1);
  return path.substr(0, path.find('/'));
}

bool is_for_programs(std::string_view path) {
  return path == "/metrics" || path == "/ready" || path == "/health";
}

Json page_json(const AdminServer::Listed& page, std::string_view group) {
  return {{"path", page.path},
          {"summary", page.summary},
          {"group", group},
          {"is_action", page.is_action},
          // A page with a parameter is reached by links, not from the list, and some pages are for
          // programs alone.
          {"is_shown", !page.is_action && !page.path.contains('{') && !is_for_programs(page.path)}};
}

Json pages_json(const Node& node) {
  auto pages = node.admin().pages();
  Json rows = Json::array();
  for (const PageGroup& group : page_groups()) {
    for (const std::string_view part : group.parts) {
      const auto others = std::ranges::stable_partition(
          pages, [part](const auto& page) { return first_part(page.path) == part; });
      for (auto page = pages.begin(); page != others.begin(); ++page) {
        rows.push_back(page_json(*page, group.name));
      }
      pages.erase(pages.begin(), others.begin());
    }
  }
  for (const AdminServer::Listed& page : pages) rows.push_back(page_json(page, last_group));
  return rows;
}

std::string root_text(const Json& root) {
  std::vector<std::vector<std::string>> lines;
  std::string_view group;
  for (const Json& page : root.at("pages").elements()) {
    const bool is_new = std::exchange(group, page.at("group").text()) != page.at("group").text();
    lines.push_back({is_new ? std::string(group) : "",
                     page.at("is_action").is_true() ? "POST" : "GET", cell_text(page.at("path")),
                     cell_text(page.at("summary"))});
  }
  const Json& node = root.at("node");
  return "node " + cell_text(node.at("name")) + ", corolane " + cell_text(node.at("version")) +
         ": " + cell_text(root.at("state").at("text")) +
         "\na browser gets a dashboard, ?format=json JSON\n\n" + aligned_text(lines);
}

}  // namespace

Result<net::HttpResponse> root_page(Node& node, const net::HttpRequest& request) {
  return in_format(request,
                   {{"node",
                     {{"name", node.config().name},
                      {"version", version()},
                      {"uptime_seconds", rounded(in_seconds(now() - node.created_at()), 1000)}}},
                    {"state", state_json(node)},
                    {"pages", pages_json(node)}},
                   root_text);
}

}  // namespace corolane::framework::detail
