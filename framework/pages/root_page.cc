// SPDX-License-Identifier: MIT
// /: the list of pages.
#include <utility>

#include "framework/admin/admin.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/telemetry/version.h"

namespace corolane::framework::detail {
namespace {

Json pages_json(const Node& node) {
  Json rows = Json::array();
  for (const AdminServer::Listed& page : node.admin().pages()) {
    rows.push_back({{"path", page.path},
                    {"summary", page.summary},
                    {"is_action", page.is_action},
                    // A page with a parameter is reached by links, not from the list.
                    {"is_shown", !page.is_action && !page.path.contains('{')}});
  }
  return rows;
}

std::string root_text(const Json& root) {
  std::vector<std::vector<std::string>> lines;
  for (const Json& page : root.at("pages").elements()) {
    lines.push_back({page.at("is_action").is_true() ? "POST" : "GET", cell_text(page.at("path")),
                     cell_text(page.at("summary"))});
  }
  const Json& node = root.at("node");
  return "node " + cell_text(node.at("name")) + ", corolane " + cell_text(node.at("version")) +
         "; a browser gets a dashboard, ?format=json JSON\n\n" + aligned_text(lines);
}

}  // namespace

Result<net::HttpResponse> root_page(Node& node, const net::HttpRequest& request) {
  return in_format(request,
                   {{"node", {{"name", node.config().name}, {"version", version()}}},
                    {"pages", pages_json(node)}},
                   root_text);
}

}  // namespace corolane::framework::detail
