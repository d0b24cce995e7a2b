// /: the list of pages.
#include <utility>

#include "framework/pages/detail/page.h"
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

std::string pages_text(const Node& node) {
  std::vector<Row<3>> rows;
  for (const AdminServer::Listed& page : node.admin().pages()) {
    rows.push_back(
        {page.is_action ? "POST" : "GET", std::string(page.path), std::string(page.summary)});
  }
  return table_text(rows);
}

}  // namespace

Result<net::HttpResponse> root_page(Node& node, const net::HttpRequest& request) {
  return in_format(
      request,
      [&] {
        return json_response({{"node", {{"name", node.config().name}, {"version", version()}}},
                              {"pages", pages_json(node)}});
      },
      [&] {
        return net::HttpResponse{
            .body = "node " + node.config().name + ", corolane " + std::string(version()) +
                    "; a browser gets a dashboard, ?format=json JSON\n\n" + pages_text(node)};
      });
}

}  // namespace corolane::framework::detail
