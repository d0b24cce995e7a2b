// SPDX-License-Identifier: MIT
#include "framework/run/run_main.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>

#include "coroutine/inspect/deadlock_stacks.h"
#include "coroutine/scheduler.h"
#include "framework/diagnostics/crash_report.h"
#include "framework/node/detail/lease_file.h"
#include "framework/node/detail/stop_signal.h"
#include "framework/node/node_parts.h"
#include "framework/run/detail/command_line.h"
#include "framework/run/detail/node_life.h"
#include "framework/telemetry/version.h"
#include "net/descriptor_limit.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"

namespace corolane::framework::detail {
namespace {

constexpr int exit_wrong_usage = 2;

// The control thread runs pages and decisions, and no calls.
constexpr std::size_t control_stack_count_max = 1'024;

// Whether the doors use files that a reload reads again.
bool has_door_files(const NodeConfig& config) {
  return !config.clients.tls.certificate_file.empty() ||
         !config.clients.login.jwt_keys_file.empty() ||
         !config.admin.tls.certificate_file.empty() || !config.cluster.tls.ca_file.empty();
}

int serve(Program& program, const CommandLine& command) {
  const std::uint64_t descriptors = net::raise_descriptor_limit();
  net::EventLoop loop;
  net::UvNetwork network(loop);
  const NodeConfig& config = program.node_config();
  Log log(config.log_level);
  report_crashes_of(program, log);
  coroutine::Scheduler scheduler(
      loop, {.stacks = {.stack_count_max = control_stack_count_max},
             .on_stray_exception = [&log](const auto& stray) { log_stray_exception(log, stray); },
             .on_deep_stack = deep_stack_logger(log)});
  // Without a file there is nothing to reload, and SIGHUP ends the process by default.
  Place place;
  std::function<void()> on_hangup;
  if (!command.config_path.empty() || has_door_files(config)) {
    on_hangup = [&place] { reload_soon(place); };
  }
  StopSignal stop_signal(scheduler, config.stop_time_max + unwind_time_max, log, on_hangup);
  place.reload.on_change = [&stop_signal](const NodeConfig& changed) {
    stop_signal.set_time_max(changed.stop_time_max + unwind_time_max);
  };
  Node::Parts parts{.has_control_loop = true};
  parts.cluster.membership.on_lease = lease_writer_of_process(log);
  int status = exit_failed;
  const auto ran = scheduler.run("main", [&] {
    status = run_node(program, descriptors, place,
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

std::string no_recorder() {
  return "this program cannot record; link corolane::framework_recording and give run_main() a "
         "recording::FileRecorder";
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

int run(int argc, const char* const* argv, Program& program, const Recorder* recorder) {
  coroutine::show_stacks_of_deadlocks();
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
  if (!command->replay_path.empty()) {
    if (recorder != nullptr)
      return recorder->replay(program, command->replay_path, command->trace_path);
    print_error(program, Error(Code::failed_precondition, "--replay: " + no_recorder()));
    return exit_wrong_usage;
  }
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
  if (program.node_config().record.file.empty()) return serve(program, *command);
  if (recorder != nullptr) return recorder->record(program);
  print_error(program, Error(Code::failed_precondition, "node.record.file: " + no_recorder()));
  return exit_wrong_usage;
}

}  // namespace corolane::framework::detail
