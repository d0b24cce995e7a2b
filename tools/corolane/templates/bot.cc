// Bots that donate to guilds over real connections, and report how long their calls took:
//
//   my_game_bot [HOST:PORT[,HOST:PORT]... [BOTS]]
//
// They are spread over these nodes, and switch to another node when theirs is gone.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/histogram.h"
#include "coroutine/inspect/deadlock_stacks.h"
#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "framework/client/cluster_client.h"
#include "guild.corolane.h"
#include "net/descriptor_limit.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"

namespace my_game {
namespace {

using corolane::Deadline;
using corolane::Histogram;
using corolane::Result;
using corolane::TimePoint;
namespace coroutine = corolane::coroutine;
namespace framework = corolane::framework;
namespace net = corolane::net;

constexpr int donations_of_each = 100;
constexpr int guild_count = 10;

// How long the bots waited for their calls.
class Tally final : public framework::CallObserver {
 public:
  void on_call(const framework::CallRecord& record, const google::protobuf::Message&,
               const google::protobuf::Message&) override {
    const std::chrono::duration<double, std::micro> waited = record.end - record.begin;
    latency_us.record(static_cast<std::uint64_t>(waited.count()));
  }

  Histogram latency_us;
};

Result<void> donate(framework::Router& router, const std::string& guild_name) {
  GuildClient guild(router, guild_name);
  DonateRequest request;
  request.set_gold(1);
  for (int i = 0; i < donations_of_each; ++i) {
    if (auto donated = guild.donate(request); !donated) return donated.error();
  }
  return {};
}

Result<void> run_bots(net::Network& network, const std::vector<net::HostPort>& servers, int count) {
  Tally tally;
  const TimePoint start = corolane::now();
  coroutine::TaskGroup bots;
  for (int bot = 0; bot < count; ++bot) {
    auto spawned = bots.spawn("bot", [&, bot] {
      framework::ClusterClient cluster(network, servers,
                                       {.keeps_session = false, .observer = &tally});
      return donate(cluster, "guild-" + std::to_string(bot % guild_count));
    });
    if (!spawned) return spawned.error();
  }
  if (auto joined = bots.join(Deadline::never()); !joined) return joined.error();

  const std::chrono::duration<double> elapsed = corolane::now() - start;
  const auto in_ms = [](std::uint64_t us) { return static_cast<double>(us) / 1'000; };
  const Histogram& waited = tally.latency_us;
  std::printf("%d bots, %d calls in %.2f s, p50 %.1f ms, p99 %.1f ms, max %.1f ms\n", count,
              count * donations_of_each, elapsed.count(), in_ms(waited.quantile(0.5)),
              in_ms(waited.quantile(0.99)), in_ms(waited.max()));
  return {};
}

Result<std::vector<net::HostPort>> parse_servers(std::string_view text) {
  std::vector<net::HostPort> servers;
  for (const auto word : std::views::split(text, ',')) {
    auto server = net::parse_host_port(std::string_view(word));
    if (!server) return server.error();
    servers.push_back(*std::move(server));
  }
  return servers;
}

int run(int argc, char** argv) {
  const auto servers = parse_servers(argc > 1 ? argv[1] : "127.0.0.1:8460");
  const int count = argc > 2 ? std::atoi(argv[2]) : 100;
  if (!servers || servers->empty() || count < 1) {
    std::fputs("usage: my_game_bot [HOST:PORT[,HOST:PORT]... [BOTS]]\n", stderr);
    return 2;
  }
  net::raise_descriptor_limit();
  net::EventLoop loop;
  coroutine::show_stacks_of_deadlocks();
  coroutine::Scheduler scheduler(loop);
  net::UvNetwork network(loop);
  Result<void> played;
  const auto ran = scheduler.run("bots", [&] { played = run_bots(network, *servers, count); });
  if (ran && played) return 0;
  std::fprintf(stderr, "my_game_bot: %s\n", (ran ? played : ran).error().message().c_str());
  return 1;
}

}  // namespace
}  // namespace my_game

int main(int argc, char** argv) { return my_game::run(argc, argv); }
