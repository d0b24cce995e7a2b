// SPDX-License-Identifier: MIT
#include "framework/pages/drain_page.h"

#include <csignal>
#include <string>
#include <utility>

#include "config/units.h"
#include "framework/admin/admin.h"
#include "framework/pages/detail/page.h"

namespace corolane::framework {
namespace {

using detail::Json;

constexpr unsigned accepted = 202;

net::HttpResponse answer(const Node& node, const net::HttpRequest& request, bool is_first) {
  const Duration time_max = node.config().stop_time_max;
  const Json page = {{"stopping", true},
                     {"since_before", !is_first},
                     {"stop_time_max_seconds", detail::in_seconds(time_max)}};
  auto response = detail::in_format(request, page, [&](const Json&) -> std::string {
    if (!is_first) return "the node is stopping already\n";
    return "the node stops, as by SIGTERM: it hands its objects over, refuses new calls, and "
           "stores "
           "what has changed; calls that run longer than " +
           config::format_duration(time_max) +
           " (node.stop_time_max) are cancelled. Then the process exits with 0\n";
  });
  response.status = accepted;
  return response;
}

}  // namespace

void add_drain_action(Node& node, std::function<void()> ask_to_stop) {
  node.admin().action("/drain", "begins the graceful end of the process, as SIGTERM does",
                      [&node, ask = std::move(ask_to_stop),
                       was_asked = false](const net::HttpRequest& request) mutable {
                        if (!detail::format_of(request)) return detail::unknown_format(request);
                        const bool is_first =
                            !node.is_stopping() && !std::exchange(was_asked, true);
                        if (is_first) {
                          node.log().always("asked to stop by POST /drain");
                          ask();
                        }
                        return answer(node, request, is_first);
                      });
}

}  // namespace corolane::framework
