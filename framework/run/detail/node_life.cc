// SPDX-License-Identifier: MIT
#include "framework/run/detail/node_life.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "coroutine/task_group.h"
#include "framework/admin/admin.h"
#include "framework/diagnostics/crash_report.h"
#include "framework/node/node_parts.h"
#include "framework/pages/admin_pages.h"
#include "framework/pages/config_page.h"
#include "framework/pages/drain_page.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// Descriptors for everything but client connections: listeners, admin pages, files, the loop.
constexpr std::uint64_t descriptors_kept = 256;

// With too few descriptors a node runs out of them before it reaches its own limit.
void warn_of_few_descriptors(Node& node, std::uint64_t descriptors) {
  const std::uint64_t wanted = node.config().clients.connections_max + descriptors_kept;
  if (descriptors >= wanted) return;
  node.log().warning(
      "few file descriptors; raise the hard limit (ulimit -Hn, LimitNOFILE=) or lower "
      "node.clients.connections_max",
      {{"limit", descriptors}, {"wanted", wanted}});
}

void print_serving(const Program& program, const Node& node) {
  const NodeEndpoints& endpoints = node.endpoints();
  const auto& http = endpoints.http;
  std::printf("%s node \"%s\" serves on %s, admin http://%s/%s%s\n", program.name(),
              node.config().name.c_str(), to_string(endpoints.clients).c_str(),
              to_string(endpoints.admin).c_str(), http ? ", http://" : "",
              http ? (to_string(*http) + "/").c_str() : "");
  std::fflush(stdout);
}

// The task reads a configuration, which has deep frames, perhaps when the load has taken every
// stack.
constexpr coroutine::TaskOptions reload_task = {.stack_size_bytes = 256 * 1024,
                                                .purpose = coroutine::StackPool::Purpose::control};

// Asks for the stacks of all tasks once: otherwise the first reader would wait until the debug
// information is loaded. Most of it is needed for the waits of the node's own tasks.
void read_names_ahead(Node& node, coroutine::TaskGroup& group) {
  static_cast<void>(group.spawn("names of functions", [&node] {
    static_cast<void>(node.admin().get("/tasks?group=stack"));
  }));
}

}  // namespace

// A node that can be asked to reload from the loop's stack.
class Presence {
 public:
  Presence(Place& place, Program& program, Node& node)
      : place_(place), node_(node), reload_(std::make_shared<Reload>(program, node, place.reload)) {
    place_.presence = this;
    add_config_pages(node.admin(), reload_);
  }
  ~Presence() { place_.presence = nullptr; }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  void reload_soon() {
    const auto reload = [this] { static_cast<void>(reload_->run()); };
    auto spawned = reloads_.spawn("reload the configuration", reload, reload_task);
    if (!spawned) node_.log().error("not reloaded", {{"error", spawned.error().message()}});
  }

 private:
  Place& place_;
  Node& node_;
  const std::shared_ptr<Reload> reload_;
  coroutine::TaskGroup reloads_;
};

void reload_soon(const Place& place) {
  if (place.presence != nullptr) place.presence->reload_soon();
}

void print_error(const Program& program, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", program.name(), error.message().c_str());
}

void report_crashes_of(const Program& program, Log& log) {
  const NodeConfig& config = program.node_config();
  const auto reported = report_crashes(config.crash, config.name, program.name());
  if (!reported) {
    log.warning("crash reports will go to stderr; change node.crash.folder",
                {{"error", reported.error().message()}});
  }
}

int run_node(Program& program, std::uint64_t descriptors, Place& place,
             const Surroundings& surroundings, ServiceWishes wishes) {
  Node node(program.node_config(), surroundings.network, Log(program.node_config().log_level),
            surroundings.parts);
  add_node_pages(node.admin(), node);
  const Presence presence(place, program, node);
  add_drain_action(node, surroundings.ask_to_stop);
  ServiceManager service_manager(node, wishes);
  warn_of_few_descriptors(node, descriptors);
  auto ready = program.set_up(node);
  if (ready) ready = node.start();
  if (!ready) {
    print_error(program, ready.error());
    service_manager.tell_failed(ready.error());
    return exit_failed;
  }
  coroutine::TaskGroup reading_ahead;
  if (surroundings.is_real) {
    node.observe();
    read_names_ahead(node, reading_ahead);
  }
  print_serving(program, node);
  service_manager.tell_ready();

  const auto signal = surroundings.wait_for_signal();
  if (signal) node.log().info("signal", {{"number", signal->number}});
  const TimePoint stop_start = signal ? signal->time : now();
  // The limit of StopSignal, plus the second that it allows for stderr.
  service_manager.tell_stopping(node.config().stop_time_max + unwind_time_max + 1s);
  // Calls that had to be cancelled are in the log; the stop itself succeeded.
  static_cast<void>(node.stop(Deadline::at(stop_start + node.config().stop_time_max)));
  return exit_ok;
}

}  // namespace corolane::framework::detail
