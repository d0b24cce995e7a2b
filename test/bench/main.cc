// The program behind `tools/bench coroutine`, which builds it and the peers in other languages.
#include <regex.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "test/bench/plot.h"
#include "test/bench/report.h"
#include "test/bench/rows.h"
#include "test/bench/run.h"
#include "tools/arguments.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using tools::Arguments;
using tools::OptionRule;

constexpr int exit_wrong_command_line = 2;

constexpr const char* help_text =
    "usage: coroutine_bench [options]; tools/bench coroutine --help explains them\n"
    "  --rows REGEX --rounds N --quick --json --plot FILE.svg --peers none|LIST --check\n"
    "  --go-peer PROGRAM --tokio-peer PROGRAM   peers that are programs (see rows.h)\n";

constexpr std::array option_rules = {
    OptionRule{.name = "--rows", .has_value = true},
    OptionRule{.name = "--rounds", .has_value = true},
    OptionRule{.name = "--quick"},
    OptionRule{.name = "--json"},
    OptionRule{.name = "--plot", .has_value = true},
    OptionRule{.name = "--peers", .has_value = true},
    OptionRule{.name = "--check"},
    OptionRule{.name = "--go-peer", .has_value = true},
    OptionRule{.name = "--tokio-peer", .has_value = true},
    OptionRule{.name = "--help"},
};

constexpr std::array peer_names = {"fcontext", "fcontext_tuned", "fcontext_direct",
                                   "ucontext", "cpp20",          "boost_fiber",
                                   "go",       "tokio"};

struct Options {
  std::string rows;
  std::size_t round_count = 5;
  bool quick = false;
  bool json = false;
  bool check = false;
  std::string plot;
  std::optional<std::vector<std::string>> peers;  // Without a value, all.
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

Result<std::vector<std::string>> read_peers(std::string_view text) {
  std::vector<std::string> peers;
  if (text == "none") return peers;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    if (std::ranges::find(peer_names, name) == peer_names.end()) {
      return misuse("--peers: no peer \"" + std::string(name) + "\"; there are none or " +
                    listed(peer_names, ","));
    }
    peers.emplace_back(name);
    text.remove_prefix(std::min(text.size(), name.size() + 1));
  }
  return peers;
}

Result<Options> read_options(const Arguments& arguments) {
  if (!arguments.words.empty()) return misuse("unknown word \"" + arguments.words.front() + "\"");
  Options options;
  const auto value_of = [&](const char* option) {
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
    auto peers = read_peers(value_of("--peers"));
    if (!peers) return peers.error();
    options.peers = std::move(*peers);
  }
  for (const char* const name : {"go", "tokio"}) {
    const std::string option = std::string("--") + name + "-peer";
    if (!arguments.has(option)) continue;
    options.programs.push_back({.name = name, .program = value_of(option.c_str())});
  }
  return options;
}

// Keeps the rows whose name the regular expression matches somewhere.
Result<void> select_rows(std::vector<Row>& rows, const std::string& expression) {
  regex_t compiled;
  if (const int problem = regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB)) {
    std::array<char, 256> reason;
    regerror(problem, &compiled, reason.data(), reason.size());
    return misuse("--rows \"" + expression + "\" is no regular expression: " + reason.data());
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

Result<std::vector<Row>> choose_rows(const Options& options) {
  set_effort(options.quick ? 10ms : 50ms);
  auto rows = all_rows(options.programs);
  if (!rows) return rows;
  if (auto selected = select_rows(*rows, options.rows); !selected) return selected.error();
  if (options.peers) select_peers(*rows, *options.peers);
  for (Row& row : *rows) {
    if (options.quick && row.costly) row.peers.clear();
  }
  return rows;
}

// Exit status: whether everything ran and, if that was asked for, every bar held.
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

int run_main(std::span<const char* const> words) {
  const auto arguments = tools::parse_arguments(words, option_rules);
  if (arguments && arguments->has("--help")) {
    std::fputs(help_text, stdout);
    return EXIT_SUCCESS;
  }
  const auto options = arguments ? read_options(*arguments) : Result<Options>(arguments.error());
  const auto rows = options ? choose_rows(*options) : Result<std::vector<Row>>(options.error());
  if (rows) return run_all(*rows, *options);
  std::fprintf(stderr, "tools/bench: %s; see tools/bench --help\n", rows.error().message().c_str());
  return rows.error().code() == Code::invalid_argument ? exit_wrong_command_line : EXIT_FAILURE;
}

}  // namespace
}  // namespace corolane::bench

int main(int argc, char** argv) {
  return corolane::bench::run_main(
      std::span<const char* const>(argv + 1, static_cast<std::size_t>(argc - 1)));
}
