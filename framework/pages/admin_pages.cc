// SPDX-License-Identifier: MIT
#include "framework/pages/admin_pages.h"

#include <string>
#include <utility>

#include "coroutine/base/text.h"
#include "framework/node/node.h"
#include "framework/node/node_metrics.h"
#include "framework/pages/detail/pages.h"
#include "framework/telemetry/metric_text.h"

namespace corolane::framework {
namespace {

net::HttpResponse health_page(const Node& node) {
  return node.is_stopping() ? net::HttpResponse{.status = 503, .body = "stopping\n"}
                            : net::HttpResponse{.body = "ok\n"};
}

Result<net::HttpResponse> metrics_page(Node& node, const net::HttpRequest& request) {
  const auto metrics = collect_metrics(node);
  if (!metrics) return metrics.error();
  if (wants_open_metrics(request.header("Accept"))) {
    return net::HttpResponse{.content_type = open_metrics_type,
                             .body = open_metrics_text(metrics->families())};
  }
  return net::HttpResponse{.content_type = prometheus_type, .body = metrics->text()};
}

}  // namespace

void add_node_pages(AdminServer& admin, Node& node) {
  const auto handler = [&node](detail::NodePage* show) {
    return [&node, show](const net::HttpRequest& request) -> net::HttpResponse {
      auto shown = show(node, request);
      if (shown) return *std::move(shown);
      return {.status = 503, .body = escaped(shown.error().to_string()) + "\n"};
    };
  };
  const auto page = [&](std::string path, std::string summary, detail::NodePage* show) {
    admin.page(std::move(path), std::move(summary), handler(show));
  };
  const auto action = [&](std::string path, std::string summary, detail::NodePage* act) {
    admin.action(std::move(path), std::move(summary), handler(act));
  };
  admin.page("/health", "ok, or 503 while the node stops",
             [&node](const net::HttpRequest&) { return health_page(node); });
  page("/", "this list; in a browser a dashboard", detail::root_page);
  page("/ready", "ready, or 503 with the reasons not to send clients here", detail::ready_page);
  page("/metrics", "all metrics, for Prometheus", metrics_page);
  page("/stats", "counters of the node since its start, as JSON", detail::stats_page);
  page("/history", "what happened in ?seconds=600, up to two days; ?series=calls,objects selects",
       detail::history_page);
  page("/cluster", "all nodes: state, objects, methods, what is slow or stuck on any of them",
       detail::cluster_page);
  page("/objects",
       "hosted object types with statistics, and the members of the cluster; ?type= lists active "
       "objects",
       detail::objects_page);
  page("/objects/{type}/{id}",
       "one object, on any node: its owner, its calls, and what they wait for, to its end",
       detail::object_page);
  page(
      "/tasks",
      "every coroutine: what it waits for, since when, where it was spawned; ?group=stack, ?state=,"
      " ?name=, ?waiting_for=, ?site=, ?shard=, ?age=",
      detail::tasks_page);
  page("/stalls", "the last stalls of the loops, and the tasks at fault", detail::stalls_page);
  page("/methods", "the cost of each method: CPU, waiting, allocations, stack",
       detail::methods_page);
  page("/profile",
       "where CPU time goes, by coroutine, within ?seconds=5: folded stacks, or ?format=svg",
       detail::profile_page);
  page("/trace", "which task ran when, within ?seconds=0.2; ?format=json for ui.perfetto.dev",
       detail::trace_page);
  page("/waits",
       "what waits for what, on all nodes: objects, locks, tasks; cycles; ?format=svg draws them",
       detail::waits_page);
  page("/heap", "memory use, as the allocator reports it", detail::heap_page);
  page("/connections", "connections with their calls, bytes and unsent output; ?peer= filters them",
       detail::connections_page);
  page("/sessions", "sessions of clients: user, peer, what is not acknowledged; ?user= selects",
       detail::sessions_page);
  page("/users/{id}", "one user, on any node: their sessions, when they were last seen",
       detail::user_page);
  action("/kick", "ends the sessions of a user: ?user=ann&reason=TEXT", detail::kick_user);
  page("/slow", "the slowest calls of the last ten minutes, and the last that failed; ?minutes=",
       detail::slow_page);
  page("/log", "the last lines of the log, and its level", detail::log_page);
  action("/log", "changes the level for a while: ?level=debug&for=10m", detail::lend_log_level);
  page("/sites", "every place that spawns: its coroutines' CPU time and deepest stack use",
       detail::sites_page);
  action("/move", "moves the partition of an object to another node: ?object=TYPE/ID&to=NODE",
         detail::move_partition);
  page("/tasks/stacks", "the stacks of all tasks, equal ones grouped (?group=stack)",
       detail::stacks_page);
  page("/tasks/stackless", "the stackless coroutines: how many wait where, for what, how long",
       detail::stackless_page);
  page("/tasks/{id}", "one task, with its stack", detail::task_page);
}

}  // namespace corolane::framework
