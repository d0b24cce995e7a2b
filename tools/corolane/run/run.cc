// SPDX-License-Identifier: MIT
#include "tools/corolane/run/run.h"

#include <array>
#include <charconv>
#include <iostream>
#include <string>
#include <utility>

#include "config/units.h"
#include "tools/corolane/run/lease_keeper.h"
#include "tools/corolane/run/supervisor.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view run_help =
    R"(Usage: corolane run CONFIG --program PATH [--retries N] [--window DURATION]
                    [--retry-delay DURATION] [--stop-time DURATION]

Runs a node, PATH --config CONFIG, and restarts it when it fails, with a growing
delay of up to 30s. It does not restart after exit status 0, or after 2, a wrong
configuration. SIGTERM and SIGINT stop the node gracefully, SIGHUP makes it
reload its configuration. When its process dies, its lease in the directory is
revoked, so that other nodes take over at once.

  --program PATH          the program of the node
  --retries N             give up after N failures, 1 to 1000; by default 5
  --window DURATION       count only failures this recent; by default 2min
  --retry-delay DURATION  the approximate first delay; by default 200ms
  --stop-time DURATION    kill the node if it still runs this long after
                          SIGTERM; by default 1min, more than node.stop_time_max
  --help                  print this text

  corolane run demo.yaml --program build/release/demo_node

The node gets environment variables such as COROLANE_NODE__LISTEN.

Exit status: 0 ended or stopped, 1 gave up, or no graceful stop, 2 wrong usage
or configuration.
)";

constexpr auto run_options =
    std::to_array<OptionRule>({{.name = "--program", .has_value = true},
                               {.name = "--retries", .has_value = true},
                               {.name = "--window", .has_value = true},
                               {.name = "--retry-delay", .has_value = true},
                               {.name = "--stop-time", .has_value = true}});

Result<void> read_duration(const Arguments& arguments, std::string_view name, Duration& value) {
  const auto option = arguments.options.find(name);
  if (option == arguments.options.end()) return {};
  auto duration = config::parse_duration(option->second);
  if (!duration) {
    return Error(Code::invalid_argument, std::string(name) + ": " + duration.error().message());
  }
  value = *duration;
  return {};
}

Result<void> read_count(const Arguments& arguments, std::string_view name, std::size_t& value) {
  const auto option = arguments.options.find(name);
  if (option == arguments.options.end()) return {};
  const std::string& text = option->second;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && value >= 1 &&
      value <= 1'000) {
    return {};
  }
  return Error(Code::invalid_argument, std::string(name) + " is a number from 1 to 1000");
}

Result<void> read_options(const Arguments& arguments, run::Supervision& supervision) {
  run::BackOff::Options& back_off = supervision.back_off;
  for (const auto& [name, value] : {std::pair("--window", &back_off.window),
                                    {"--retry-delay", &back_off.delay_min},
                                    {"--stop-time", &supervision.stop_time_max}}) {
    if (auto read = read_duration(arguments, name, *value); !read) return read;
  }
  return read_count(arguments, "--retries", back_off.failure_count_max);
}

Outcome run_supervisor(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.empty()) return wrong_usage("run", "needs CONFIG, such as demo.yaml");
  if (words.size() > 1) return wrong_usage("run", "stray argument \"" + words[1] + "\"");
  const auto program = arguments.options.find("--program");
  if (program == arguments.options.end()) {
    return wrong_usage("run", "needs --program PATH, such as build/release/demo_node");
  }
  run::Supervision supervision{
      .words = {program->second, "--config", words[0]},
      .tell = [](const std::string& line) { std::cerr << "corolane run: " << line << std::endl; }};
  if (auto read = read_options(arguments, supervision); !read) {
    return wrong_usage("run", read.error().message());
  }
  const run::LeaseKeeper leases(supervision.words, supervision.tell);
  supervision.environment.push_back(leases.variable());
  supervision.on_death = [&] { leases.revoke(); };
  return run::supervise(supervision);
}

}  // namespace

constexpr Command run_command = {
    .name = "run",
    .summary = "runs a node, and restarts it when it fails",
    .help = run_help,
    .options = run_options,
    .run = run_supervisor,
    .word = WordKind::file,
};

}  // namespace corolane::tools::cli
