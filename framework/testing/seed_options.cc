// SPDX-License-Identifier: MIT
// The options of a command line that drives seeds, and the command that replays a run.
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "framework/testing/seed_driver.h"

namespace corolane::sim {
namespace {

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Error wrong(std::string_view option, std::string_view value, std::string_view expected) {
  return Error(Code::invalid_argument, std::string(option) + " must be " + std::string(expected) +
                                           ", not \"" + std::string(value) + "\"");
}

Result<std::uint64_t> number_between(std::uint64_t least, std::uint64_t most,
                                     std::string_view option, std::string_view value) {
  const auto number = number_of(value);
  if (number && *number >= least && *number <= most) return *number;
  return wrong(option, value,
               "a number from " + std::to_string(least) + " to " + std::to_string(most));
}

Result<Seeds> seeds_of(std::string_view option, std::string_view value) {
  const std::size_t dots = value.find("..");
  const auto first = number_of(value.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number_of(value.substr(dots + 2));
  if (!first || !last || *last < *first) return wrong(option, value, "of the form 1..200 or 7");
  return Seeds{.first = *first, .last = *last};
}

}  // namespace

Result<void> set_option(DriveOptions& options, std::string_view name, std::string_view value) {
  const auto set_number = [&](std::uint64_t least, std::uint64_t most, auto use) -> Result<void> {
    const auto number = number_between(least, most, name, value);
    if (!number) return number.error();
    use(*number);
    return {};
  };
  if (name == "--seeds") {
    const auto seeds = seeds_of(name, value);
    if (!seeds) return seeds.error();
    options.seeds = *seeds;
    return {};
  }
  if (name == "--faults") {
    auto faults = find_faults(value);
    if (!faults) return std::move(faults.error()).with_context(name);
    options.faults = *std::move(faults);
    return {};
  }
  if (name == "--seconds") {
    return set_number(8, 100'000, [&](auto n) { options.length = std::chrono::seconds(n); });
  }
  if (name == "--nodes") return set_number(1, 1'000, [&](auto n) { options.node_count = n; });
  if (name == "--clients") return set_number(4, 10'000, [&](auto n) { options.client_count = n; });
  if (name == "--jobs") return set_number(1, 1'000, [&](auto n) { options.job_count = n; });
  if (name == "--trace") {
    options.trace = value;
  } else if (name == "--in-order") {
    options.is_in_order = true;
  } else if (name == "--keep-going") {
    options.keeps_going = true;
  } else {
    return Error(Code::invalid_argument, "unknown option \"" + std::string(name) + "\"");
  }
  return {};
}

std::string replay_command(const RunPlan& plan, const DriveOptions& options) {
  std::string faults;
  for (const Fault& fault : plan.faults) {
    faults += (faults.empty() ? "" : ",") + (fault.path.empty() ? fault.name : fault.path);
  }
  return options.command + " --seeds " + std::to_string(plan.seed) + " --seconds " +
         std::to_string(plan.length.count()) + " --nodes " + std::to_string(plan.node_count) +
         " --clients " + std::to_string(plan.client_count) + " --faults " +
         (faults.empty() ? "none" : faults) + (plan.shuffles ? "" : " --in-order") +
         " --trace trace.txt";
}

}  // namespace corolane::sim
