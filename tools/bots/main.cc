// SPDX-License-Identifier: MIT
// Plays real games against chess nodes: two players and a spectator per game, each a coroutine with
// its own connection. See --help.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <ranges>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/inspect/deadlock_stacks.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/for_each.h"
#include "net/descriptor_limit.h"
#include "net/http/http.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "tools/arguments.h"
#include "tools/bots/bot.h"
#include "tools/bots/history.h"
#include "tools/bots/plan.h"
#include "tools/bots/report.h"
#include "tools/bots/session_play.h"
#include "tools/bots/steady_play.h"
#include "tools/tls_option.h"

namespace corolane::tools::bots {
namespace {

using namespace std::chrono_literals;

constexpr const char* help_text =
    "usage: bots [options]\n"
    "Plays the games of a PGN file against chess nodes, over real connections. Games and players\n"
    "get names that are unique to the run; at the end the ratings of all players have to add up.\n"
    "\n"
    "  --server HOST:PORT,...\n"
    "                       the nodes, used in turn (default 127.0.0.1:8460)\n"
    "  --admin HOST:PORT    the admin endpoint of one node, to print its statistics (default:\n"
    "                       none)\n"
    "  --games FILE         the games, PGN (default test/data/chess/games.pgn)\n"
    "  --expected FILE      the expected results, CSV; without it results are not compared\n"
    "                       (default: expected.csv beside the default games)\n"
    "  --at-once N          games played at the same time (default 400)\n"
    "  --players N          the number of players, used in turn (default 40)\n"
    "  --history FILE       play all the time, whatever happens to the nodes: each call goes to "
    "the\n"
    "                       object itself, is retried on other nodes, and is recorded in\n"
    "                       FILE; the nodes need node.clients.public_methods_only: false\n"
    "  --sessions FILE      each game is played once, by two clients that log in, keep sessions\n"
    "                       over all the nodes, and learn of moves only by what they are\n"
    "                       pushed; FILE has the secret of node.clients.login.jwt_keys_file\n"
    "  --seconds N          with --history: start games for N seconds, repeating the file;\n"
    "                       with --sessions: spread the moves over N seconds (default 60)\n"
    "  --think N            with --history: think N milliseconds before each move, twenty\n"
    "                       times as long in half of the games (default 0)\n"
    "  --tls FILE           use TLS; FILE has the CA certificate of the node, PEM\n"
    "  --certificate FILE   the client certificate for a node that demands one, PEM\n"
    "  --key FILE           the private key of the client certificate, PEM\n"
    "  --websocket          connect by WebSocket, as browsers do\n"
    "  --help               print this text\n"
    "\n"
    "Exit status: 0 when every game was played and ended as expected and the ratings add up, 1\n"
    "otherwise, 2 for a wrong command line. With --sessions it is 1 as well when a push was lost,\n"
    "doubled or out of order.\n";

// Each game takes four coroutines and three connections.
constexpr std::size_t at_once_max = 5'000;

constexpr std::size_t player_count_max = 100'000;
constexpr std::size_t seconds_max = 86'400;
constexpr std::size_t think_ms_max = 60'000;

constexpr const char* default_games = "test/data/chess/games.pgn";
constexpr const char* default_expected = "test/data/chess/expected.csv";

constexpr std::array option_rules = {
    OptionRule{.name = "--server", .has_value = true},
    OptionRule{.name = "--admin", .has_value = true},
    OptionRule{.name = "--games", .has_value = true},
    OptionRule{.name = "--expected", .has_value = true},
    OptionRule{.name = "--at-once", .has_value = true},
    OptionRule{.name = "--players", .has_value = true},
    OptionRule{.name = "--history", .has_value = true},
    OptionRule{.name = "--sessions", .has_value = true},
    OptionRule{.name = "--seconds", .has_value = true},
    OptionRule{.name = "--think", .has_value = true},
    OptionRule{.name = "--help"},
    tls_option_rules[0],
    tls_option_rules[1],
    tls_option_rules[2],
    websocket_option_rule,
};

struct Options {
  std::vector<net::HostPort> servers{{.host = "127.0.0.1", .port = 8460}};
  std::optional<net::HostPort> admin;
  std::string games = default_games;
  std::string expected;  // Empty: results are not compared.
  std::size_t at_once = 400;
  std::size_t player_count = 40;
  std::string history;   // Empty: no history, and each game is played once.
  std::string sessions;  // The file of the secret; empty: players do not log in.
  std::size_t seconds = 60;
  std::size_t think_ms = 0;
  Arguments arguments;  // For the TLS options.
  bool help = false;
};

Result<net::HostPort> read_peer(const Arguments& arguments, const char* option) {
  auto peer = net::parse_host_port(arguments.options.find(option)->second);
  if (!peer)
    return Error(Code::invalid_argument, std::string(option) + ": " + peer.error().message());
  return peer;
}

Result<std::vector<net::HostPort>> read_servers(const std::string& list) {
  std::vector<net::HostPort> servers;
  std::istringstream texts(list);
  for (std::string text; std::getline(texts, text, ',');) {
    auto server = net::parse_host_port(text);
    if (!server) return std::move(server.error()).with_context("--server");
    servers.push_back(*std::move(server));
  }
  if (servers.empty()) return Error(Code::invalid_argument, "--server: no node is named");
  return servers;
}

// A random name, unique to this run.
std::string name_of_run() {
  std::random_device entropy;
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), "run-%08x", entropy());
  return text.data();
}

std::vector<std::string> name_players(const std::string& run, std::size_t count) {
  std::vector<std::string> players;
  players.reserve(count);
  for (std::size_t i = 0; i < count; ++i) players.push_back(run + " player-" + std::to_string(i));
  return players;
}

// Reads the value of `option`, a number from `min` to `max`.
Result<std::size_t> read_count(const char* option, const std::string& text, std::size_t min,
                               std::size_t max) {
  std::size_t count = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem == std::errc() && end == text.data() + text.size() && min <= count && count <= max) {
    return count;
  }
  return Error(Code::invalid_argument, std::string(option) + ": expected a number from " +
                                           std::to_string(min) + " to " + std::to_string(max) +
                                           ", got \"" + text + "\"");
}

Result<Options> parse_options(std::span<const char* const> words) {
  const auto arguments = parse_arguments(words, option_rules);
  if (!arguments) return arguments.error();
  if (!arguments->words.empty()) {
    return Error(Code::invalid_argument, "unexpected \"" + arguments->words.front() + "\"");
  }
  const auto value_of = [&](const char* option, const std::string& fallback) {
    const auto found = arguments->options.find(option);
    return found == arguments->options.end() ? fallback : found->second;
  };
  Options options;
  options.arguments = *arguments;
  options.help = arguments->has("--help");
  if (arguments->has("--server")) {
    auto servers = read_servers(value_of("--server", ""));
    if (!servers) return servers.error();
    options.servers = std::move(*servers);
  }
  if (arguments->has("--admin")) {
    auto admin = read_peer(*arguments, "--admin");
    if (!admin) return admin.error();
    options.admin = std::move(*admin);
  }
  struct Count {
    const char* option;
    std::size_t& value;
    std::size_t min;
    std::size_t max;
  };
  for (const Count& count : {Count{"--at-once", options.at_once, 1, at_once_max},
                             Count{"--players", options.player_count, 2, player_count_max},
                             Count{"--seconds", options.seconds, 1, seconds_max},
                             Count{"--think", options.think_ms, 0, think_ms_max}}) {
    if (!arguments->has(count.option)) continue;
    auto read = read_count(count.option, value_of(count.option, ""), count.min, count.max);
    if (!read) return read.error();
    count.value = *read;
  }
  options.history = value_of("--history", "");
  options.sessions = value_of("--sessions", "");
  if (!options.history.empty() && !options.sessions.empty()) {
    return Error(Code::invalid_argument, "--history and --sessions exclude each other");
  }
  options.games = value_of("--games", default_games);
  options.expected = value_of("--expected", arguments->has("--games") ? "" : default_expected);
  return options;
}

// Plays all games, `worker_count` at a time. Returns a line for each failed game, in the order of
// the games.
std::map<std::size_t, std::string> play_all(Hall& hall, const Plan& plan,
                                            std::size_t worker_count) {
  std::map<std::size_t, std::string> failures;
  std::size_t done = 0;
  const auto play = [&](std::size_t index) {
    std::string failure = play_game(hall, plan.games[index]);
    if (!failure.empty()) failures.emplace(index, std::move(failure));
    ++done;
    if (done % 50 == 0 || done == plan.games.size()) {
      std::printf("%zu/%zu games played\n", done, plan.games.size());
      std::fflush(stdout);
    }
  };
  const auto played =
      coroutine::for_each(std::views::iota(std::size_t{0}, plan.games.size()),
                          {.concurrency = worker_count, .name = "table"}, play, Deadline::never());
  check(played.has_value(), "games return no error and are never cancelled");
  return failures;
}

// Returns "" when there is no admin endpoint, or no answer.
std::string fetch_stats(net::Network& network, const std::optional<net::HostPort>& admin) {
  if (!admin) return "";
  auto response =
      net::fetch_http(network, *admin, {.method = "GET", .target = "/stats"}, Deadline::after(5s));
  if (!response || response->status != 200) {
    std::fprintf(
        stderr, "bots: no statistics from the node: http://%s:%u/stats: %s\n", admin->host.c_str(),
        unsigned{admin->port},
        response ? std::to_string(response->status).c_str() : response.error().message().c_str());
    return "";
  }
  return response->body;
}

int fail(const Error& error) {
  std::fprintf(stderr, "bots: %s\n", error.message().c_str());
  return 1;
}

int judge_ratings(const Hall& hall, const Result<Ratings>& ratings) {
  if (!ratings) return fail(ratings.error());
  std::printf("the ratings of %zu players are from %d to %d; their sum is what it was\n",
              hall.players.size(), ratings->lowest, ratings->highest);
  return 0;
}

int run_once(net::Network& network, const Options& options, const Plan& plan, Hall& hall) {
  std::printf("%zu games from %s, %zu at the same time\n", plan.games.size(), options.games.c_str(),
              std::min(options.at_once, plan.games.size()));
  const TimePoint start = now();
  const std::map<std::size_t, std::string> failures =
      play_all(hall, plan, std::min(options.at_once, plan.games.size()));
  const Summary summary{.game_count = plan.games.size() + plan.damaged.size(),
                        .elapsed = now() - start};
  for (const auto& [index, line] : failures) std::fprintf(stderr, "%s\n", line.c_str());

  const std::size_t played = plan.games.size() - failures.size();
  const bool compares = !options.expected.empty();
  std::fputs(make_table(summary, hall.tally, fetch_stats(network, options.admin)).c_str(), stdout);
  std::printf("%zu/%zu games %s\n", played, summary.game_count,
              compares ? "ended as expected" : "played, without comparison");
  return played == summary.game_count ? judge_ratings(hall, look_at_ratings(hall, played)) : 1;
}

int run_steadily(const Options& options, const Plan& plan, Hall& hall) {
  auto history = History::create(options.history);
  if (!history) return fail(history.error());
  const SteadyPlay play{.table_count = options.at_once,
                        .last_begin = Deadline::after(std::chrono::seconds(options.seconds)),
                        .think_time = std::chrono::milliseconds(options.think_ms)};
  const SteadyResult result = play_steadily(hall, plan, play, *history);
  for (const std::string& line : result.failures) std::fprintf(stderr, "%s\n", line.c_str());
  std::printf("%zu/%zu games ended as expected, with %zu moves\n",
              result.game_count - result.failures.size(), result.game_count, hall.tally.move_count);
  if (auto flushed = history->flush(); !flushed) return fail(flushed.error());
  if (!result.failures.empty()) return 1;
  return judge_ratings(hall, look_at_ratings(hall, result.game_count));
}

Result<std::string> read_secret(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string secret;
  if (file && std::getline(file, secret) && !secret.empty()) return secret;
  return Error(Code::not_found, "no secret can be read from " + path);
}

int run_sessions(const Options& options, const Plan& plan, Hall& hall) {
  auto secret = read_secret(options.sessions);
  if (!secret) return fail(secret.error());
  const SessionPlay play{.secret = *std::move(secret),
                         .table_count_max = options.at_once,
                         .length = std::chrono::seconds(options.seconds)};
  const SessionResult result = play_with_sessions(hall, plan, play);
  for (const auto* lines : {&result.late, &result.mistakes, &result.failures}) {
    for (const std::string& line : *lines) std::fprintf(stderr, "%s\n", line.c_str());
  }
  const std::size_t game_count = plan.games.size() + plan.damaged.size();
  std::printf("%zu/%zu games %s\n%s", result.game_count, game_count,
              options.expected.empty() ? "played, without comparison" : "ended as expected",
              result.summary().c_str());
  if (result.game_count != game_count) return 1;
  const int status = judge_ratings(hall, look_at_ratings_with_token(hall, play, result.game_count));
  return result.notices.is_perfect() ? status : 1;
}

int run(net::Network& network, const Options& options) {
  auto call_network = CallNetwork::make(network, options.arguments);
  if (!call_network) {
    fail(call_network.error());
    return 2;
  }
  auto plan = read_plan(options.games, options.expected);
  if (!plan) return fail(plan.error());
  for (const std::string& line : plan->damaged) std::fprintf(stderr, "%s\n", line.c_str());

  const std::string run = name_of_run();
  Hall hall{.network = call_network->network(),
            .servers = options.servers,
            .file = options.games,
            .run = run,
            .players = name_players(run, options.player_count),
            .start_line = StartLine(3 * std::min(options.at_once, plan->games.size())),
            .tally = {}};
  if (!options.sessions.empty()) return run_sessions(options, *plan, hall);
  return options.history.empty() ? run_once(network, options, *plan, hall)
                                 : run_steadily(options, *plan, hall);
}

int main(int argc, char** argv) {
  auto options = parse_options(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  if (!options) {
    std::fprintf(stderr, "bots: %s; see bots --help\n", options.error().message().c_str());
    return 2;
  }
  if (options->help) {
    std::fputs(help_text, stdout);
    return 0;
  }
  net::raise_descriptor_limit();
  net::EventLoop loop;
  coroutine::show_stacks_of_deadlocks();
  coroutine::Scheduler scheduler(loop);
  net::UvNetwork network(loop);
  int status = 1;
  auto ran = scheduler.run("bots", [&] { status = run(network, *options); });
  if (!ran) std::fprintf(stderr, "bots: %s\n", ran.error().message().c_str());
  return ran ? status : 1;
}

}  // namespace
}  // namespace corolane::tools::bots

int main(int argc, char** argv) { return corolane::tools::bots::main(argc, argv); }
