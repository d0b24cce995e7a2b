// SPDX-License-Identifier: MIT
// The program behind tools/simulate: runs a simulated cluster once for each of many seeds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/testing/seed_driver.h"
#include "tools/arguments.h"
#include "tools/seed_options.h"
#include "tools/simulation/planted_bugs.h"
#include "tools/simulation/run.h"

namespace corolane::sim {
namespace {

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_wrong_usage = 2;

// tools/simulate prints the same text before it has built anything.
constexpr const char* help =
#include "tools/simulation/help.txt"
    ;

struct AllBugs : SeededBugs, SessionBugs {};

struct Choice {
  const char* name;
  bool AllBugs::* member;
};

constexpr Choice bugs[] = {
    {"no_seal", &SeededBugs::no_seal},
    {"load_before_seal", &SeededBugs::load_before_seal},
    {"fence_from_cached_time", &SeededBugs::fence_from_cached_time},
    {"reply_before_write", &SeededBugs::reply_before_write},
    {"request_ids_outside_state", &SeededBugs::request_ids_outside_state},
    {"request_ids_evicted", &SeededBugs::request_ids_evicted},
    {"request_ids_destroyed", &SeededBugs::request_ids_destroyed},
    {"outbox_sent_early", &SeededBugs::outbox_sent_early},
    {"outbox_without_ids", &SeededBugs::outbox_without_ids},
    {"nothing_undone", &SeededBugs::nothing_undone},
    {"no_tombstone", &SeededBugs::no_tombstone},
    {"destroyed_and_served", &SeededBugs::destroyed_and_served},
    {"retry_on_unknown", &SeededBugs::retry_on_unknown},
    {"cache_without_epoch", &SeededBugs::cache_without_epoch},
    {"set_back_trusted", &SeededBugs::set_back_trusted},
    {"shard_of_caller", &SeededBugs::shard_of_caller},
    {"reply_after_fence", &SeededBugs::reply_after_fence},
    {"calls_after_fence", &SeededBugs::calls_after_fence},
    {"reply_without_proof", &SeededBugs::reply_without_proof},
    {"directory_trusted", &SeededBugs::directory_trusted},
    {"generation_ignored", &SeededBugs::generation_ignored},
    {"node_epochs_reused", &SeededBugs::node_epochs_reused},
    {"watch_trusted", &SeededBugs::watch_trusted},
    {"hand_over_without_compare", &SeededBugs::hand_over_without_compare},
    {"version_check_off", &SeededBugs::version_check_off},
    {"keepalive_time_at_answer", &SeededBugs::keepalive_time_at_answer},
    {"ring_without_acknowledgement", &SessionBugs::ring_without_acknowledgement},
    {"resume_without_principal", &SessionBugs::resume_without_principal},
    {"two_live_sockets", &SessionBugs::two_live_sockets},
    {"gap_not_told", &SessionBugs::gap_not_told},
    {"push_before_login", &SessionBugs::push_before_login},
};

const RunPlan default_plan{.length = std::chrono::seconds(60), .node_count = 5, .client_count = 50};

int run_bugs(const DriveOptions& options) {
  std::printf("%-28s %6s  %s\n", "bug", "seeds", "caught by");
  std::size_t caught_count = 0;
  for (const Choice& bug : bugs) {
    AllBugs planted;
    planted.*bug.member = true;
    const PlantedBugs in_this_process(planted, planted);
    const auto failure = first_failure(market_scenario(), default_plan, options);
    caught_count += failure ? 1 : 0;
    std::printf("%-28s %6s  %s\n", bug.name,
                failure ? std::to_string(failure->seed - options.seeds.first + 1).c_str() : "-",
                failure ? failure->violation.c_str() : "nothing");
    std::fflush(stdout);
  }
  std::printf("%zu of %zu bugs caught within %llu seeds each\n", caught_count, std::size(bugs),
              static_cast<unsigned long long>(options.seeds.count()));
  return caught_count == std::size(bugs) ? exit_ok : exit_failed;
}

int misused(std::string_view message) {
  std::fprintf(stderr, "simulate: %.*s; see tools/simulate --help\n",
               static_cast<int>(message.size()), message.data());
  return exit_wrong_usage;
}

int main(std::span<const char* const> words) {
  std::vector<tools::OptionRule> rules(tools::seed_option_rules.begin(),
                                       tools::seed_option_rules.end());
  rules.insert(rules.end(),
               {{.name = "--bug", .has_value = true}, {.name = "--bugs"}, {.name = "--help"}});
  const auto arguments = tools::parse_arguments(words, rules);
  if (!arguments) return misused(arguments.error().message());
  if (arguments->has("--help")) {
    std::fputs(help, stdout);
    return exit_ok;
  }
  if (!arguments->words.empty()) {
    return misused("\"" + arguments->words.front() + "\" is not an option");
  }
  DriveOptions options;
  AllBugs planted;
  options.command = "tools/simulate";
  for (const auto& [option, value] : arguments->options) {
    if (option == "--bugs") continue;
    if (option != "--bug") {
      if (auto set = set_option(options, option, value); !set)
        return misused(set.error().message());
      continue;
    }
    if (value == "list") {
      for (const Choice& bug : bugs) std::puts(bug.name);
      return exit_ok;
    }
    const auto* const bug =
        std::ranges::find(bugs, value, [](const Choice& choice) { return choice.name; });
    if (bug == std::end(bugs)) {
      return misused("--bug must be a name from --bug list, not \"" + value + "\"");
    }
    planted.*bug->member = true;
    options.command += " --bug " + value;
  }
#ifndef COROLANE_SEEDED_BUGS
  if (arguments->has("--bugs") || arguments->has("--bug")) {
    return misused("a build with a sanitizer has no bugs to plant");
  }
#endif
  if (arguments->has("--bugs")) return run_bugs(options);
  const PlantedBugs in_this_process(planted, planted);
  return drive(market_scenario(), default_plan, options);
}

}  // namespace
}  // namespace corolane::sim

int main(int argc, char** argv) {
  return corolane::sim::main({argv + 1, static_cast<std::size_t>(argc - 1)});
}
