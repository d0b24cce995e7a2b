// SPDX-License-Identifier: MIT
#include "tools/corolane/bench/bench.h"

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "config/units.h"
#include "tools/corolane/bench/load.h"
#include "tools/corolane/figures.h"
#include "tools/corolane/on_network.h"
#include "tools/tls_option.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view bench_help =
    R"(Usage: corolane bench HOST:PORT SERVICE/METHOD JSON [--rate N/s]
                      [--duration DURATION] [--connections N] [--object ID]
                      [--timeout DURATION] [--json] [--login FILE] [--tls FILE]
                      [--websocket]

Calls a method of a running node at a fixed rate, whether or not earlier calls
have been answered, and prints latencies and errors. A latency counts from the
scheduled time of its call. Ctrl-C stops it and prints the results so far.

  SERVICE/METHOD       such as Chess/Look, Look or Ch/Lo; not a stream
  JSON                 the request; - reads it from standard input
  --rate N/s           the number of calls per second; by default 1000/s
  --duration DURATION  how long to send calls; by default 10s
  --connections N      the number of connections, 1 to 1000; by default 1
  --object ID          the object to call, for a service of objects
  --timeout DURATION   how long to wait for each reply; by default as long as
                       the method allows
  --json               print the result as JSON, in microseconds
  --login FILE         log in with the token in FILE, such as a JSON Web Token
  --tls FILE           use TLS; FILE has the CA certificate of the node, PEM
  --certificate FILE   the client certificate for a node that demands one, PEM
  --key FILE           the private key of the client certificate, PEM
  --websocket          connect by WebSocket, as browsers do
  --help               print this text

In JSON and ID, {i} is the number of the call, counted from 0, and {i%100} is
that number modulo 100.

  corolane bench 127.0.0.1:8460 Chess/Look '{"game": "one"}' --rate 2000/s
  corolane bench 127.0.0.1:8460 Counter/Add '{"amount": 1}' --object 'c{i%100}'

Exit status: 0 success, 1 no connection, 2 wrong usage.
)";

constexpr auto bench_options =
    std::to_array<OptionRule>({{.name = "--rate", .has_value = true},
                               {.name = "--duration", .has_value = true},
                               {.name = "--connections", .has_value = true},
                               {.name = "--object", .has_value = true},
                               {.name = "--timeout", .has_value = true},
                               {.name = "--json"},
                               login_option_rule,
                               tls_option_rules[0],
                               tls_option_rules[1],
                               tls_option_rules[2],
                               websocket_option_rule});

constexpr std::size_t connection_count_max = 1'000;

std::atomic<bool> stops{false};

std::optional<std::string> value_of(const Arguments& arguments, std::string_view name) {
  const auto option = arguments.options.find(name);
  if (option == arguments.options.end()) return {};
  return option->second;
}

Error of_option(std::string_view name, const Error& error) {
  return {error.code(), std::string(name) + ": " + error.message()};
}

// Reads the options into `load`.
Result<void> read_options(const Arguments& arguments, bench::Load& load) {
  if (const auto text = value_of(arguments, "--rate")) {
    const auto rate = bench::parse_rate(*text);
    if (!rate) return of_option("--rate", rate.error());
    load.rate = *rate;
  }
  if (const auto text = value_of(arguments, "--duration")) {
    const auto duration = config::parse_duration(*text);
    if (!duration) return of_option("--duration", duration.error());
    load.duration = *duration;
  }
  if (const auto text = value_of(arguments, "--timeout")) {
    const auto timeout = config::parse_duration(*text);
    if (!timeout) return of_option("--timeout", timeout.error());
    load.timeout = *timeout;
  }
  if (const auto text = value_of(arguments, "--object")) {
    auto object = bench::Pattern::parse(*text);
    if (!object) return of_option("--object", object.error());
    load.object = *std::move(object);
  }
  if (const auto text = value_of(arguments, "--connections")) {
    const char* const end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, load.connections);
    if (read.ec != std::errc() || read.ptr != end || load.connections == 0 ||
        load.connections > connection_count_max) {
      return Error(Code::invalid_argument, "--connections is a number from 1 to 1000");
    }
  }
  return {};
}

// Prints the progress each second, on standard error, since a program may read the result.
void tell(const bench::Progress& progress) {
  const Histogram& latency = progress.tally.latency_us();
  const auto time = [](std::uint64_t us) { return time_text(static_cast<double>(us) * 1e3); };
  std::cerr << age_text(progress.seconds) << "  " << progress.tally.calls() << " calls  p50 "
            << time(latency.quantile(0.5)) << "  p99 " << time(latency.quantile(0.99)) << "  max "
            << time(latency.max()) << "  in flight " << progress.under_way << "  errors "
            << progress.tally.errors() << std::endl;
}

Outcome run_bench(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.size() < 3) return wrong_usage("bench", "needs HOST:PORT, SERVICE/METHOD and JSON");
  if (words.size() > 3) return wrong_usage("bench", "stray argument \"" + words[3] + "\"");
  const auto peer = remote_peer_of("bench", arguments, words[0]);
  if (!peer) return std::unexpected(peer.error());
  const std::string json =
      words[2] != "-" ? words[2] : std::string(std::istreambuf_iterator<char>(std::cin), {});
  auto request = bench::Pattern::parse(json);
  if (!request) return wrong_usage("bench", request.error().message());
  bench::Load load{.peer = *peer, .method = words[1], .request = *std::move(request)};
  if (auto read = read_options(arguments, load); !read) {
    return wrong_usage("bench", read.error().message());
  }

  bench::Tally tally;
  bench::Ran ran;
  std::signal(SIGINT, [](int) { stops = true; });
  const auto outcome = run_on_network(arguments, [&](net::Network& network) -> Outcome {
    auto loaded = bench::run_load(network, load, stops, tally, tell);
    if (!loaded) return std::unexpected(loaded.error());
    ran = *std::move(loaded);
    return "";
  });
  if (!outcome) return outcome;
  return arguments.has("--json") ? report_json(ran, tally) : report_text(ran, tally);
}

}  // namespace

constexpr Command bench_command = {
    .name = "bench",
    .summary = "measures a method under load",
    .help = bench_help,
    .options = bench_options,
    .run = run_bench,
    .word = WordKind::method,
};

}  // namespace corolane::tools::cli
