#include "framework/run/run_main.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "framework/diagnostics/crash_report.h"
#include "framework/node/detail/lease_file.h"
#include "framework/node/detail/service_manager.h"
#include "framework/node/detail/stop_signal.h"
#include "framework/node/reload.h"
#include "framework/pages/config_page.h"
#include "framework/pages/drain_page.h"
#include "framework/recording/recorded_run.h"
#include "framework/recording/recording_file.h"
#include "framework/run/detail/command_line.h"
#include "framework/telemetry/version.h"
#include "net/descriptor_limit.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_wrong_usage = 2;

// Descriptors for everything but client connections: listeners, admin pages, files, the loop.
constexpr std::uint64_t descriptors_kept = 256;

void print_error(const Program& program, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", program.name(), error.message().c_str());
}

// With too few descriptors a node runs out of them before it reaches its own limit.
void warn_of_few_descriptors(Node& node, std::uint64_t descriptors) {
  const std::uint64_t wanted = node.config().rpc.connections_max + descriptors_kept;
  if (descriptors >= wanted) return;
  node.log().warning(
      "few file descriptors; raise the hard limit (ulimit -Hn, LimitNOFILE=) or lower "
      "node.rpc.connections_max",
      {{"limit", descriptors}, {"wanted", wanted}});
}

// Call it before the first scheduler runs.
void report_crashes_of(const Program& program, Log& log) {
  const auto reported = report_crashes(program.node_config(), program.name());
  if (!reported) {
    log.warning("crash reports will go to stderr; change node.crash.folder",
                {{"error", reported.error().message()}});
  }
}

void print_serving(const Program& program, const Node& node) {
  const NodeEndpoints& endpoints = node.endpoints();
  const auto& http = endpoints.http;
  std::printf("%s node \"%s\" serves on %s, admin http://%s/%s%s\n", program.name(),
              node.config().name.c_str(), to_string(endpoints.listen).c_str(),
              to_string(endpoints.admin).c_str(), http ? ", http://" : "",
              http ? (to_string(*http) + "/").c_str() : "");
  std::fflush(stdout);
}

// The task reads a configuration, which has deep frames, perhaps when the load has taken every
// stack.
constexpr coroutine::TaskOptions reload_task = {.stack_size_bytes = 256 * 1024,
                                                .purpose = coroutine::StackPool::Purpose::control};

class Presence;

// Connects a signal with the node that it acts on.
struct Place {
  Presence* presence = nullptr;  // Null while there is no node.
  Reload::Options reload = {};
};

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

// Runs the node from start to stop, in a task. Returns the exit status.
int serve_until_signal(Program& program, std::uint64_t descriptors, Place& place,
                       const recording::Surroundings& surroundings, ServiceWishes wishes) {
  Node node(program.node_config(), surroundings.network, Log(program.node_config().log_level),
            surroundings.parts);
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
  if (surroundings.is_real) node.observe();
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

int serve(Program& program, const CommandLine& command) {
  const std::uint64_t descriptors = net::raise_descriptor_limit();
  net::EventLoop loop;
  net::UvNetwork network(loop);
  const NodeConfig& config = program.node_config();
  Log log(config.log_level);
  report_crashes_of(program, log);
  coroutine::Scheduler scheduler(
      loop, {.stacks = {.stack_count_max = config.stacks.count_max / config.shard_count()},
             .on_stray_exception = [&log](const auto& stray) { log_stray_exception(log, stray); }});
  // Without a file there is nothing to reload, and SIGHUP ends the process by default.
  Place place;
  std::function<void()> on_hangup;
  if (!command.config_path.empty() || !config.tls.certificate_file.empty()) {
    on_hangup = [&place] {
      if (place.presence != nullptr) place.presence->reload_soon();
    };
  }
  StopSignal stop_signal(scheduler, config.stop_time_max + unwind_time_max, log, on_hangup);
  place.reload.on_change = [&stop_signal](const NodeConfig& changed) {
    stop_signal.set_time_max(changed.stop_time_max + unwind_time_max);
  };
  Node::Parts parts;
  parts.cluster.membership.on_lease = lease_writer_of_process(log);
  int status = exit_failed;
  const auto ran = scheduler.run("main", [&] {
    status = serve_until_signal(program, descriptors, place,
                                {.network = network,
                                 .parts = parts,
                                 .wait_for_signal = [&stop_signal] { return stop_signal.wait(); },
                                 .ask_to_stop = [&stop_signal] { stop_signal.ask(); },
                                 .is_real = true},
                                ServiceWishes::of_process());
  });
  if (!ran) print_error(program, ran.error());
  return status;
}

// A recorded node does not handle SIGHUP.
recording::Life life_of(Program& program, std::uint64_t descriptors, ServiceWishes wishes) {
  return [&program, descriptors, wishes](const recording::Surroundings& surroundings) {
    Place place = {.reload = {.is_refused = true}};
    return serve_until_signal(program, descriptors, place, surroundings, wishes);
  };
}

int serve_recorded(Program& program) {
  const std::uint64_t descriptors = net::raise_descriptor_limit();
  if (auto valid = validate(program.node_config()); !valid) {
    print_error(program, valid.error());
    return exit_failed;
  }
  Log log(program.node_config().log_level);
  report_crashes_of(program, log);
  recording::Header header;
  header.set_config(program.print_config(config::Secrets::shown));
  header.set_version(std::string(version()));
  header.set_descriptor_limit(descriptors);
  const ServiceWishes wishes = ServiceWishes::of_process();
  header.set_service_interval(wishes.interval.count());
  const auto status = recording::run_recorded(program.node_config(), std::move(header), log,
                                              life_of(program, descriptors, wishes));
  if (status) return *status;
  print_error(program, status.error());
  return exit_failed;
}

int replay(Program& program, const CommandLine& command) {
  auto file = recording::RecordingReader::open(command.replay_path);
  if (!file) {
    print_error(program, file.error());
    return exit_failed;
  }
  if (auto loaded = program.load_recorded((*file)->header().config()); !loaded) {
    std::fprintf(stderr, "%s\n%s: this is not a recording of this program; it was made by %s\n",
                 loaded.error().message().c_str(), program.name(), (*file)->program().c_str());
    return exit_failed;
  }
  Log log(program.node_config().log_level);
  const std::uint64_t descriptors = (*file)->header().descriptor_limit();
  // The replay sends the same keep-alives as the recorded run, to no receiver.
  const ServiceWishes wishes = {.is_there = false,
                                .interval = Duration((*file)->header().service_interval())};
  const auto status =
      recording::run_replayed(program.node_config(), *std::move(file), command.trace_path, log,
                              life_of(program, descriptors, wishes));
  if (status) return *status;
  print_error(program, status.error());
  return exit_failed;
}

int print_explained(const Program& program, const std::string& path) {
  const auto text = explain_crash(path);
  if (!text) {
    print_error(program, text.error());
    return exit_failed;
  }
  return std::fputs(text->c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? exit_ok : exit_failed;
}

int revoke(const Program& program, Directory::Lease lease) {
  auto revoked = revoke_lease(program.node_config().cluster, lease);
  if (revoked) return exit_ok;
  print_error(program, std::move(revoked.error()).with_context("the lease is not revoked"));
  return exit_failed;
}

Result<void> load(Program& program, const CommandLine& command) {
  const config::Overrides overrides = {.environment = config::process_environment(),
                                       .settings = command.settings};
  return program.load(command.config_path, overrides);
}

}  // namespace

Error at_origin(const config::Origins& origins, const std::string& key, const Error& error) {
  const auto origin = origins.find(key);
  if (origin == origins.end()) return error;
  return Error(error.code(), origin->second + ": " + error.message());
}

int run(int argc, const char* const* argv, Program& program) {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  auto command = parse_command_line(arguments.subspan(std::min<std::size_t>(1, arguments.size())));
  if (!command) {
    std::fprintf(stderr, "%s: %s; see %s --help\n", program.name(),
                 command.error().message().c_str(), program.name());
    return exit_wrong_usage;
  }
  using Action = CommandLine::Action;
  if (command->action == Action::help) {
    std::fputs(help_text(program.name()).c_str(), stdout);
    return exit_ok;
  }
  if (command->action == Action::version) {
    std::printf("%s, corolane %.*s\n", program.name(), static_cast<int>(version().size()),
                version().data());
    return exit_ok;
  }
  if (command->action == Action::config_reference) {
    std::fputs(program.config_reference().c_str(), stdout);
    return exit_ok;
  }
  if (!command->crash_path.empty()) return print_explained(program, command->crash_path);
  if (!command->replay_path.empty()) return replay(program, *command);
  if (auto loaded = load(program, *command); !loaded) {
    std::fprintf(stderr,
                 "%s\n%s: the configuration is invalid; %s --print-config shows every key\n",
                 loaded.error().message().c_str(), program.name(), program.name());
    return exit_wrong_usage;
  }
  if (command->action == Action::print_config) {
    std::fputs(program.print_config(config::Secrets::hidden).c_str(), stdout);
    return exit_ok;
  }
  if (command->action == Action::check_config) {
    std::printf("%s: the configuration is valid\n", program.name());
    return exit_ok;
  }
  if (command->action == Action::revoke_lease) return revoke(program, command->lease);
  return program.node_config().record.file.empty() ? serve(program, *command)
                                                   : serve_recorded(program);
}

}  // namespace corolane::framework::detail
