// SPDX-License-Identifier: MIT
#include "tools/corolane/commands.h"

#include "tools/corolane/admin_door.h"
#include "tools/corolane/bench/bench.h"
#include "tools/corolane/call.h"
#include "tools/corolane/completion.h"
#include "tools/corolane/drain.h"
#include "tools/corolane/new_project.h"
#include "tools/corolane/page.h"
#include "tools/corolane/page_commands.h"
#include "tools/corolane/replay.h"
#include "tools/corolane/run/run.h"
#include "tools/corolane/simulate.h"
#include "tools/corolane/top/top.h"
#include "tools/corolane/version.h"

namespace corolane::tools::cli {

const std::vector<const Command*>& commands() {
  static const auto all = [] {
    std::vector<const Command*> list = {&new_command,  &simulate_command, &run_command,
                                        &call_command, &bench_command,    &top_command};
    for (const Command& command : page_commands()) list.push_back(&command);
    list.insert(list.end(), {&drain_command, &page_command, &replay_command, &completion_command,
                             &version_command});
    return list;
  }();
  return all;
}

std::string help_of(const Command& command) {
  return std::string(command.help) + std::string(command.asks_pages ? admin_help : "");
}

std::vector<OptionRule> options_of(const Command& command) {
  std::vector<OptionRule> rules(command.options.begin(), command.options.end());
  if (command.asks_pages) {
    rules.insert(rules.end(), admin_option_rules.begin(), admin_option_rules.end());
  }
  rules.push_back({.name = "--help"});
  return rules;
}

}  // namespace corolane::tools::cli
