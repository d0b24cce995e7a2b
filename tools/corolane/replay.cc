// SPDX-License-Identifier: MIT
#include "tools/corolane/replay.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tools/corolane/program.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view replay_help =
    R"(Usage: corolane replay FILE [--trace FILE] [--gdb] [--program FILE]

Replays the run of a recorded node, without clocks, network or store. A node
with `node.record.file` records FILE. This command runs the recorded program
again on its recorded input, as fast as possible, and reports whether it behaves
the same. A bug that shows up once a month shows up every time.

  --trace FILE     write each request of the node, and what it got, to FILE
  --gdb            run under gdb, stopped before the first step
  --program FILE   run this program instead of the recorded one, such as one
                   with the bug fixed

  corolane replay chess.recording --gdb

Exit status: 0 the node behaved the same until the recording ends, 1 it did not,
2 wrong usage. A node that crashed because of a bug crashes again.
)";

constexpr auto replay_options =
    std::to_array<OptionRule>({{.name = "--trace", .has_value = true},
                               {.name = "--gdb"},
                               {.name = "--program", .has_value = true}});

// How a recording begins: the path of the program follows, and a line break.
constexpr std::string_view mark = "corolane recording 1 ";
constexpr std::size_t first_line_size_max = 4096;

// The path of the recorded program; empty when the file is not a recording.
std::optional<std::string> recorded_program(std::istream& file) {
  std::string text(first_line_size_max, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const std::size_t end = text.find('\n');
  if (!text.starts_with(mark) || end == std::string::npos) return std::nullopt;
  return text.substr(mark.size(), end - mark.size());
}

Outcome run_replay(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.empty()) return wrong_usage("replay", "needs the FILE of a recording");
  if (words.size() > 1) {
    return wrong_usage("replay",
                       "replays one recording at a time; stray argument \"" + words[1] + "\"");
  }
  std::ifstream file(words[0], std::ios::binary);
  if (!file) return misused("corolane replay: " + words[0] + " cannot be read");
  auto program = recorded_program(file);
  if (!program) {
    return misused("corolane replay: " + words[0] +
                   " is not a recording of a node (node.record.file)");
  }
  const auto& given = arguments.options;
  if (const auto other = given.find("--program"); other != given.end()) program = other->second;
  if (access(program->c_str(), X_OK) != 0) {
    return misused("corolane replay: the recorded program " + *program +
                   " is missing; give its path with --program");
  }
  std::vector<std::string> command;
  if (arguments.has("--gdb")) command = {"gdb", "--args"};
  command.insert(command.end(), {*program, "--replay", words[0]});
  if (const auto trace = given.find("--trace"); trace != given.end()) {
    command.insert(command.end(), {"--trace", trace->second});
  }
  const Error cannot = become(command);
  return misused("corolane replay: " + cannot.message() +
                 (arguments.has("--gdb") ? ": apt-get install gdb" : ""));
}

}  // namespace

constexpr Command replay_command = {
    .name = "replay",
    .summary = "runs a recorded node again",
    .help = replay_help,
    .options = replay_options,
    .run = run_replay,
    .word = WordKind::file,
};

}  // namespace corolane::tools::cli
