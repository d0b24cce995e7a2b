// Plays real games against a chess node: two players and a spectator per game, each a coroutine
// with a connection of its own. See --help.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "net/descriptor_limit.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/uv_network.h"
#include "tools/arguments.h"
#include "tools/bots/bot.h"
#include "tools/bots/plan.h"
#include "tools/bots/report.h"
#include "tools/tls_option.h"

namespace corolane::tools::bots {
namespace {

using namespace std::chrono_literals;

constexpr const char* help_text =
    "usage: bots [options]\n"
    "Plays the games of a PGN file against a chess node, over real connections.\n"
    "\n"
    "  --server HOST:PORT   the node (default 127.0.0.1:8460)\n"
    "  --admin HOST:PORT    its admin endpoint, for its own figures (default: not asked)\n"
    "  --games FILE         the games, PGN (default test/data/chess/games.pgn)\n"
    "  --expected FILE      how they end, CSV; without it games are played and not compared\n"
    "                       (default: expected.csv beside the default games)\n"
    "  --at-once N          games played at the same time (default 400)\n"
    "  --tls FILE           talk inside of TLS; FILE has the CA of the node, PEM\n"
    "  --certificate FILE   what to show a node that asks who calls, PEM\n"
    "  --key FILE           its key, PEM\n"
    "  --help               this text\n"
    "\n"
    "Exit status: 0 when every game was played and ended as expected, 1 when one was not,\n"
    "2 for a wrong command line.\n";

// Each takes four coroutines and three connections.
constexpr std::size_t at_once_max = 5'000;

constexpr const char* default_games = "test/data/chess/games.pgn";
constexpr const char* default_expected = "test/data/chess/expected.csv";

constexpr std::array option_rules = {
    OptionRule{.name = "--server", .has_value = true},
    OptionRule{.name = "--admin", .has_value = true},
    OptionRule{.name = "--games", .has_value = true},
    OptionRule{.name = "--expected", .has_value = true},
    OptionRule{.name = "--at-once", .has_value = true},
    OptionRule{.name = "--help"},
    tls_option_rules[0],
    tls_option_rules[1],
    tls_option_rules[2],
};

struct Options {
  net::HostPort server{"127.0.0.1", 8460};
  std::optional<net::HostPort> admin;
  std::string games = default_games;
  std::string expected;  // Empty: nothing to compare with.
  std::size_t at_once = 400;
  Arguments arguments;  // For what they say of TLS.
  bool help = false;
};

Result<net::HostPort> read_peer(const Arguments& arguments, const char* option) {
  auto peer = net::parse_host_port(arguments.options.find(option)->second);
  if (!peer)
    return Error(Code::invalid_argument, std::string(option) + ": " + peer.error().message());
  return peer;
}

Result<std::size_t> read_at_once(const std::string& text) {
  std::size_t count = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem != std::errc() || end != text.data() + text.size() || count == 0 ||
      count > at_once_max) {
    return Error(Code::invalid_argument, "--at-once: expected a number from 1 to " +
                                             std::to_string(at_once_max) + ", got \"" + text +
                                             "\"");
  }
  return count;
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
    auto server = read_peer(*arguments, "--server");
    if (!server) return server.error();
    options.server = std::move(*server);
  }
  if (arguments->has("--admin")) {
    auto admin = read_peer(*arguments, "--admin");
    if (!admin) return admin.error();
    options.admin = std::move(*admin);
  }
  if (arguments->has("--at-once")) {
    auto at_once = read_at_once(value_of("--at-once", ""));
    if (!at_once) return at_once.error();
    options.at_once = *at_once;
  }
  options.games = value_of("--games", default_games);
  options.expected = value_of("--expected", arguments->has("--games") ? "" : default_expected);
  return options;
}

// Plays all games, `worker_count` of them at a time. Returns a line for each that failed, in the
// order of the games.
std::map<std::size_t, std::string> play_all(Hall& hall, const Plan& plan,
                                            std::size_t worker_count) {
  std::map<std::size_t, std::string> failures;
  std::size_t next = 0;
  std::size_t done = 0;
  coroutine::TaskGroup workers;
  for (std::size_t worker = 0; worker < worker_count; ++worker) {
    auto spawned = workers.spawn("table " + std::to_string(worker), [&] {
      while (next < plan.games.size()) {
        const std::size_t index = next++;
        std::string failure = play_game(hall, plan.games[index]);
        if (!failure.empty()) failures.emplace(index, std::move(failure));
        ++done;
        if (done % 50 == 0 || done == plan.games.size()) {
          std::printf("%zu/%zu games played\n", done, plan.games.size());
          std::fflush(stdout);
        }
      }
    });
    check(spawned.has_value(), "there are stacks for at_once_max tables");
  }
  const auto joined = workers.join();
  check(joined.has_value(), "tables return no error and nobody cancels the bots");
  return failures;
}

// Empty when there is nobody to ask, or no answer.
std::string fetch_stats(net::Network& network, const std::optional<net::HostPort>& admin) {
  if (!admin) return "";
  auto response =
      net::fetch_http(network, *admin, {.method = "GET", .target = "/stats"}, Deadline::after(5s));
  if (!response || response->status != 200) {
    std::fprintf(
        stderr, "bots: no figures from the node: http://%s:%u/stats: %s\n", admin->host.c_str(),
        unsigned{admin->port},
        response ? std::to_string(response->status).c_str() : response.error().message().c_str());
    return "";
  }
  return response->body;
}

int run(net::Network& network, const Options& options) {
  auto call_network = CallNetwork::make(network, options.arguments);
  if (!call_network) {
    std::fprintf(stderr, "bots: %s\n", call_network.error().message().c_str());
    return 2;
  }
  auto plan = read_plan(options.games, options.expected);
  if (!plan) {
    std::fprintf(stderr, "bots: %s\n", plan.error().message().c_str());
    return 1;
  }
  for (const std::string& line : plan->damaged) std::fprintf(stderr, "%s\n", line.c_str());

  const std::size_t worker_count = std::min(options.at_once, plan->games.size());
  Hall hall{.network = call_network->network(),
            .server = options.server,
            .file = options.games,
            .start_line = StartLine(3 * worker_count),
            .tally = {}};
  std::printf("%zu games from %s, %zu at the same time\n", plan->games.size(),
              options.games.c_str(), worker_count);
  const TimePoint start = now();
  const std::map<std::size_t, std::string> failures = play_all(hall, *plan, worker_count);
  Summary summary{.game_count = plan->games.size() + plan->damaged.size(),
                  .elapsed = now() - start};
  for (const auto& [index, line] : failures) std::fprintf(stderr, "%s\n", line.c_str());

  const std::size_t played = plan->games.size() - failures.size();
  const bool compares = !options.expected.empty();
  std::fputs(make_table(summary, hall.tally, fetch_stats(network, options.admin)).c_str(), stdout);
  std::printf("%zu/%zu games %s\n", played, summary.game_count,
              compares ? "ended as expected" : "played, without comparison");
  return played == summary.game_count ? 0 : 1;
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
