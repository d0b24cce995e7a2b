// Plays real games against a chess node: two players and a spectator per game, each a coroutine
// with a connection of its own. See --help.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "net/descriptor_limit.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/uv_network.h"
#include "tools/bots/bot.h"
#include "tools/bots/plan.h"
#include "tools/bots/report.h"

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
    "  --help               this text\n"
    "\n"
    "Exit status: 0 when every game was played and ended as expected, 1 when one was not,\n"
    "2 for a wrong command line.\n";

// Each takes four coroutines and three connections.
constexpr std::size_t at_once_max = 5'000;

constexpr const char* default_games = "test/data/chess/games.pgn";
constexpr const char* default_expected = "test/data/chess/expected.csv";

struct Options {
  net::HostPort server{"127.0.0.1", 8460};
  std::string admin;
  std::string games = default_games;
  std::string expected;
  std::size_t at_once = 400;
  bool help = false;
};

Result<Options> parse_options(std::span<char*> arguments) {
  Options options;
  const auto wrong = [](const std::string& what) {
    return Error(Code::invalid_argument, what + "; see bots --help");
  };
  bool games_given = false;
  bool expected_given = false;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const std::string_view name = arguments[index];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    if (name != "--server" && name != "--admin" && name != "--games" && name != "--expected" &&
        name != "--at-once") {
      return wrong("unknown option \"" + std::string(name) + "\"");
    }
    if (++index == arguments.size()) return wrong(std::string(name) + " needs a value");
    const std::string value = arguments[index];
    if (name == "--server") {
      auto server = net::parse_host_port(value);
      if (!server) return wrong("--server: " + server.error().message());
      options.server = *server;
    } else if (name == "--admin") {
      options.admin = value;
    } else if (name == "--games") {
      options.games = value;
      games_given = true;
    } else if (name == "--expected") {
      options.expected = value;
      expected_given = true;
    } else {
      const auto [end, problem] =
          std::from_chars(value.data(), value.data() + value.size(), options.at_once);
      if (problem != std::errc() || end != value.data() + value.size() || options.at_once == 0 ||
          options.at_once > at_once_max) {
        return wrong("--at-once: expected a number from 1 to " + std::to_string(at_once_max) +
                     ", got \"" + value + "\"");
      }
    }
  }
  if (!games_given && !expected_given) options.expected = default_expected;
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
    check(spawned.has_value(), "there are stacks for some hundred tables");
  }
  const auto joined = workers.join();
  check(joined.has_value(), "tables return no error and nobody cancels the bots");
  return failures;
}

std::string fetch_stats(net::Network& network, const std::string& admin) {
  if (admin.empty()) return "";
  auto host = net::parse_host_port(admin);
  if (!host) return "";
  auto response =
      net::fetch_http(network, *host, {.method = "GET", .target = "/stats"}, Deadline::after(5s));
  if (!response || response->status != 200) {
    std::fprintf(
        stderr, "bots: no figures from the node: http://%s/stats: %s\n", admin.c_str(),
        response ? std::to_string(response->status).c_str() : response.error().message().c_str());
    return "";
  }
  return response->body;
}

int run(net::Network& network, const Options& options) {
  auto plan = read_plan(options.games, options.expected);
  if (!plan) {
    std::fprintf(stderr, "bots: %s\n", plan.error().message().c_str());
    return 1;
  }
  for (const std::string& line : plan->damaged) std::fprintf(stderr, "%s\n", line.c_str());

  const std::size_t worker_count = std::min(options.at_once, plan->games.size());
  Hall hall{.network = network,
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
    std::fprintf(stderr, "bots: %s\n", options.error().message().c_str());
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
