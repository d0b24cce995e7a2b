// SPDX-License-Identifier: MIT
// The command line that all benchmarks share.
#include "tools/benchmarks/command.h"

#include <regex.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "coroutine/inspect/deadlock_stacks.h"
#include "tools/arguments.h"
#include "tools/benchmarks/child_process.h"
#include "tools/benchmarks/plot.h"
#include "tools/benchmarks/report.h"
#include "tools/benchmarks/run.h"

namespace corolane::bench {
namespace {

using tools::Arguments;
using tools::OptionRule;

constexpr int exit_wrong_command_line = 2;

constexpr std::array common_option_rules = {
    OptionRule{.name = "--rows", .has_value = true},
    OptionRule{.name = "--rounds", .has_value = true},
    OptionRule{.name = "--quick"},
    OptionRule{.name = "--json"},
    OptionRule{.name = "--plot", .has_value = true},
    OptionRule{.name = "--peers", .has_value = true},
    OptionRule{.name = "--check"},
    OptionRule{.name = "--help"},
};

struct Options {
  std::string rows;
  std::size_t round_count = 5;
  bool quick = false;
  bool json = false;
  bool check = false;
  std::string plot;
  std::optional<std::vector<std::string>> peers;  // Empty: all peers.
  std::vector<ProgramPeer> programs;
};

Error misuse(std::string message) { return Error(Code::invalid_argument, std::move(message)); }

Result<std::size_t> read_round_count(const std::string& text) {
  std::size_t count = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem != std::errc() || end != text.data() + text.size() || count == 0 || count > 1'000) {
    return misuse("--rounds takes a number from 1 to 1000, not \"" + text + "\"");
  }
  return count;
}

template <typename Names>
std::string listed(const Names& names, const char* separator) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : separator).append(name);
  return text;
}

// Returns "--go-peer" and the like for every peer that is a program.
std::vector<std::string> program_options_of(const Command& command) {
  std::vector<std::string> options;
  for (const std::string name : command.program_names) options.push_back("--" + name + "-peer");
  return options;
}

std::string help_text(const Command& command) {
  const std::string name = command.name;
  std::string text = "usage: " + name + "_bench [options]; tools/bench " + name +
                     " --help explains them\n  --rows REGEX --rounds N --quick --json"
                     " --plot FILE.svg --peers none|LIST --check\n";
  for (const std::string& option : program_options_of(command)) {
    text += "  " + option + " PROGRAM\n";
  }
  return text;
}

Result<std::vector<std::string>> read_peers(std::string_view text,
                                            std::span<const char* const> peer_names) {
  std::vector<std::string> peers;
  if (text == "none") return peers;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    if (std::ranges::find(peer_names, name) == peer_names.end()) {
      return misuse("--peers: no peer \"" + std::string(name) + "\"; the choices are none or " +
                    listed(peer_names, ","));
    }
    peers.emplace_back(name);
    text.remove_prefix(std::min(text.size(), name.size() + 1));
  }
  return peers;
}

Result<Options> read_options(const Command& command, const Arguments& arguments) {
  if (!arguments.words.empty()) return misuse("unknown word \"" + arguments.words.front() + "\"");
  Options options;
  const auto value_of = [&](const std::string& option) {
    const auto found = arguments.options.find(option);
    return found == arguments.options.end() ? std::string() : found->second;
  };
  options.rows = value_of("--rows");
  options.quick = arguments.has("--quick");
  options.json = arguments.has("--json");
  options.check = arguments.has("--check");
  options.plot = value_of("--plot");
  if (options.quick) options.round_count = 3;
  if (arguments.has("--rounds")) {
    const auto count = read_round_count(value_of("--rounds"));
    if (!count) return count.error();
    options.round_count = *count;
  }
  if (arguments.has("--peers")) {
    auto peers = read_peers(value_of("--peers"), command.peer_names);
    if (!peers) return peers.error();
    options.peers = std::move(*peers);
  }
  for (const std::string name : command.program_names) {
    const std::string option = "--" + name + "-peer";
    if (!arguments.has(option)) continue;
    options.programs.push_back({.name = name, .program = value_of(option)});
  }
  return options;
}

// Keeps the rows whose name contains a match of the regular expression.
Result<void> select_rows(std::vector<Row>& rows, const std::string& expression) {
  regex_t compiled;
  if (const int problem = regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB)) {
    std::array<char, 256> reason;
    regerror(problem, &compiled, reason.data(), reason.size());
    return misuse("--rows \"" + expression + "\" is not a regular expression: " + reason.data());
  }
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.info.name);
  std::erase_if(rows, [&](const Row& row) {
    return regexec(&compiled, row.info.name.c_str(), 0, nullptr, 0) != 0;
  });
  regfree(&compiled);
  if (!rows.empty()) return {};
  return misuse("--rows \"" + expression + "\" matches none of the rows:\n  " +
                listed(names, "\n  "));
}

void select_peers(std::vector<Row>& rows, const std::vector<std::string>& names) {
  for (Row& row : rows) {
    std::erase_if(row.peers, [&](const Contestant& peer) {
      return std::ranges::find(names, peer.name) == names.end();
    });
  }
}

Result<std::vector<Row>> choose_rows(const Command& command, const Options& options) {
  set_effort(options.quick ? command.quick_effort : command.effort);
  const bool is_reduced = options.quick && command.quick_rows != nullptr;
  auto rows = (is_reduced ? command.quick_rows : command.all_rows)(options.programs);
  if (!rows) return rows;
  if (auto selected = select_rows(*rows, options.rows); !selected) return selected.error();
  if (options.peers) select_peers(*rows, *options.peers);
  for (Row& row : *rows) {
    if (options.quick && row.costly) row.peers.clear();
  }
  return rows;
}

// Returns the exit status: success if everything ran and, with --check, every bar held.
int run_all(const std::vector<Row>& rows, const Options& options) {
  std::vector<RowResult> results;
  for (const Row& row : rows) {
    std::fprintf(stderr, "[%zu/%zu] %s: %s\n", results.size() + 1, rows.size(),
                 row.info.name.c_str(), row.info.operation.c_str());
    results.push_back(run_row(row, options.round_count));
  }
  std::fputs((options.json ? to_json(results) : to_table(results)).c_str(), stdout);
  if (!options.plot.empty()) {
    std::ofstream file(options.plot);
    file << to_svg(results);
    if (!file.flush()) {
      std::fprintf(stderr, "cannot write %s\n", options.plot.c_str());
      return EXIT_FAILURE;
    }
  }
  const auto has = [&](Verdict verdict) {
    return std::ranges::find(results, verdict, verdict_of) != results.end();
  };
  const bool failed = has(Verdict::not_measured) || (options.check && has(Verdict::missed));
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace

Result<void> add_program(const ProgramPeer& peer, std::vector<Row>& rows,
                         const std::function<Measure(const std::string& row)>& measure_of) {
  const auto listed = output_of(peer.program, {"--rows"});
  if (!listed) return Error(listed.error()).with_context(peer.name);
  std::istringstream names(*listed);
  for (std::string name; std::getline(names, name);) {
    const auto row =
        std::ranges::find_if(rows, [&](const Row& each) { return each.info.name == name; });
    if (row == rows.end()) continue;
    row->peers.push_back({.name = peer.name, .measure = measure_of(name)});
  }
  return {};
}

int run_command(const Command& command, std::span<const char* const> words) {
  coroutine::show_stacks_of_deadlocks();
  std::vector<OptionRule> rules(common_option_rules.begin(), common_option_rules.end());
  const std::vector<std::string> program_options = program_options_of(command);
  for (const std::string& option : program_options) {
    rules.push_back({.name = option, .has_value = true});
  }
  const auto arguments = tools::parse_arguments(words, rules);
  if (arguments && arguments->has("--help")) {
    std::fputs(help_text(command).c_str(), stdout);
    return EXIT_SUCCESS;
  }
  const auto options =
      arguments ? read_options(command, *arguments) : Result<Options>(arguments.error());
  const auto rows =
      options ? choose_rows(command, *options) : Result<std::vector<Row>>(options.error());
  if (rows) return run_all(*rows, *options);
  std::fprintf(stderr, "tools/bench: %s; see tools/bench --help\n", rows.error().message().c_str());
  return rows.error().code() == Code::invalid_argument ? exit_wrong_command_line : EXIT_FAILURE;
}

}  // namespace corolane::bench
