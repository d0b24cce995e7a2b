// SPDX-License-Identifier: MIT
#include "framework/recording/file_recorder.h"

#include <cstdint>
#include <cstdio>
#include <utility>

#include "framework/node/detail/service_manager.h"
#include "framework/recording/detail/recorded_run.h"
#include "framework/recording/detail/recording_file.h"
#include "framework/run/detail/node_life.h"
#include "framework/run/detail/program.h"
#include "framework/telemetry/version.h"
#include "net/descriptor_limit.h"

namespace corolane::framework::recording {
namespace {

using framework::detail::exit_failed;
using framework::detail::Program;
using framework::detail::ServiceWishes;

// A recorded node does not handle SIGHUP.
Life life_of(Program& program, std::uint64_t descriptors, ServiceWishes wishes) {
  return [&program, descriptors, wishes](const framework::detail::Surroundings& surroundings) {
    framework::detail::Place place = {.reload = {.is_refused = true}};
    return framework::detail::run_node(program, descriptors, place, surroundings, wishes);
  };
}

int status_of(const Program& program, const Result<int>& ran) {
  if (ran) return *ran;
  framework::detail::print_error(program, ran.error());
  return exit_failed;
}

}  // namespace

int FileRecorder::record(Program& program) const {
  const std::uint64_t descriptors = net::raise_descriptor_limit();
  if (auto valid = validate(program.node_config()); !valid) {
    framework::detail::print_error(program, valid.error());
    return exit_failed;
  }
  Log log(program.node_config().log_level);
  framework::detail::report_crashes_of(program, log);
  Header header;
  header.set_config(program.print_config(config::Secrets::shown));
  header.set_version(std::string(version()));
  header.set_descriptor_limit(descriptors);
  const ServiceWishes wishes = ServiceWishes::of_process();
  header.set_service_interval(wishes.interval.count());
  return status_of(program, run_recorded(program.node_config(), std::move(header), log,
                                         life_of(program, descriptors, wishes)));
}

int FileRecorder::replay(Program& program, const std::string& recording,
                         const std::string& trace) const {
  auto file = RecordingReader::open(recording);
  if (!file) {
    framework::detail::print_error(program, file.error());
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
  return status_of(program, run_replayed(program.node_config(), *std::move(file), trace, log,
                                         life_of(program, descriptors, wishes)));
}

}  // namespace corolane::framework::recording
