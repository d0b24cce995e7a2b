// SPDX-License-Identifier: MIT
#include "tools/bots/plan.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace corolane::tools::bots {
namespace {

constexpr std::string_view csv_header = "game,plies,outcome,final_fen,uci_moves";

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || text.bad()) {
    return Error(Code::not_found, "cannot read " + path + ": " + std::strerror(errno));
  }
  return std::move(text).str();
}

// The columns of a line without quoting: none of the values holds a comma.
std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> columns(1);
  for (const char c : line) {
    if (c == ',') {
      columns.emplace_back();
    } else {
      columns.back() += c;
    }
  }
  return columns;
}

bool read_number(const std::string& text, std::size_t& number) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end;
}

Result<std::map<std::string, Expected>> read_expected(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.error();
  std::istringstream lines(*text);
  std::map<std::string, Expected> expected;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string place = path + ":" + std::to_string(++number) + ": ";
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (number == 1) {
      if (line != csv_header) {
        return Error(Code::invalid_argument,
                     place + "the first line has to be " + std::string(csv_header));
      }
      continue;
    }
    if (line.empty()) continue;
    const std::vector<std::string> columns = split(line);
    Expected game;
    if (columns.size() != 5 || !read_number(columns[1], game.plies)) {
      return Error(Code::invalid_argument, place + "expected five columns, the second a number");
    }
    game.outcome = columns[2];
    game.final_fen = columns[3];
    if (!expected.emplace(columns[0], std::move(game)).second) {
      return Error(Code::invalid_argument, place + "game \"" + columns[0] + "\" appears twice");
    }
  }
  if (number == 0) {
    return Error(Code::invalid_argument,
                 path + ":1: the file is empty, expected " + std::string(csv_header));
  }
  return expected;
}

}  // namespace

Result<Plan> read_plan(const std::string& games_path, const std::string& expected_path) {
  auto text = read_file(games_path);
  if (!text) return text.error();
  std::map<std::string, Expected> expected;
  if (!expected_path.empty()) {
    auto read = read_expected(expected_path);
    if (!read) return read.error();
    expected = std::move(*read);
  }

  Plan plan;
  std::set<std::string> names;
  for (auto& game : services::chess::rules::read_pgn(*text)) {
    if (!game) {
      const auto& failure = game.error();
      plan.damaged.push_back(
          describe_failure(games_path, failure.line, failure.name, failure.ordinal,
                           static_cast<std::size_t>(failure.ply), failure.reason));
      continue;
    }
    if (game->name.empty() || !names.insert(game->name).second) {
      plan.damaged.push_back(describe_failure(games_path, game->line, game->name, game->ordinal, 0,
                                              game->name.empty()
                                                  ? "it has no Site tag, which names it"
                                                  : "another game has the same Site tag"));
      continue;
    }
    PlannedGame planned{.moves = std::move(*game), .expected = {}};
    if (const auto found = expected.find(planned.moves.name); found != expected.end()) {
      planned.expected = found->second;
    } else if (!expected_path.empty()) {
      std::string problem = expected_path;
      problem.append(": no line for game \"").append(planned.moves.name);
      problem.append("\" of ").append(games_path);
      return Error(Code::invalid_argument, std::move(problem));
    }
    plan.games.push_back(std::move(planned));
  }
  if (plan.games.empty() && plan.damaged.empty()) {
    return Error(Code::invalid_argument, games_path + ":1: no game in it; expected PGN, see " +
                                             "test/data/chess/games.pgn");
  }
  return plan;
}

std::string describe_failure(const std::string& file, int line, const std::string& game,
                             int ordinal, std::size_t ply, const std::string& reason) {
  const std::string name = game.empty() ? "number " + std::to_string(ordinal) : '"' + game + '"';
  return file + ":" + std::to_string(line) + ": game " + name + ", ply " + std::to_string(ply) +
         ": " + reason;
}

}  // namespace corolane::tools::bots
