// SPDX-License-Identifier: MIT
#include "tools/corolane/top/top.h"

#include <array>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/units.h"
#include "coroutine/base/text.h"
#include "coroutine/sync/ticker.h"
#include "coroutine/task.h"
#include "tools/corolane/admin_door.h"
#include "tools/corolane/on_network.h"
#include "tools/corolane/top/cluster_view.h"
#include "tools/corolane/top/drawing.h"
#include "tools/corolane/top/frame.h"
#include "tools/corolane/top/keys.h"
#include "tools/corolane/top/sampler.h"
#include "tools/corolane/top/terminal.h"
#include "tools/corolane/top/view.h"

namespace corolane::tools::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view top_help =
    R"(Usage: corolane top [HOST:PORT] [--cluster] [--interval DURATION]
                    [--once | --json]

Shows a node live in the terminal: its event loops, coroutines, calls and
latencies of the last second, and below them its methods (key m), its tasks (t)
or their stacks (s), or the nodes of its cluster (c). Enter opens a task or a
stack, and goes to a node of the cluster; the letter before a title sorts by
that column, r reverses the order, h shows help, q quits. Without a terminal it
prints one frame.

Errors are the server's fault, refusals the caller's.

  --cluster            begin with the nodes of the cluster
  --interval DURATION  the time between two samples; by default 1s
  --once               print one frame as text, and exit
  --json               print a line of JSON each interval until interrupted;
                       with --once, print one line

  corolane top 127.0.0.1:8461

With NO_COLOR in the environment it uses no colors.
)";

constexpr auto top_options = std::to_array<OptionRule>({{.name = "--cluster"},
                                                        {.name = "--interval", .has_value = true},
                                                        {.name = "--once"},
                                                        {.name = "--json"}});

constexpr Duration interval_min = 100ms;

struct Plan {
  AdminDoor door;
  Duration interval = 1s;
  top::TableKind table = top::TableKind::methods;  // The one to begin with.
};

top::Wanted wanted_by(const top::View& view) {
  return {.cluster = view.table() == top::TableKind::cluster,
          .tasks = view.table() == top::TableKind::tasks,
          .stacks = view.table() == top::TableKind::stacks,
          .task = view.is_open() && view.table() == top::TableKind::tasks ? view.selected_id()
                                                                          : std::string(),
          .peer = view.peer()};
}

bool has_colors() {
  const char* const refused = std::getenv("NO_COLOR");
  return refused == nullptr || *refused == '\0';
}

// The screen and its contents.
class Live {
 public:
  Live(top::Terminal& terminal, top::Sampler& sampler, top::TableKind table)
      : terminal_(terminal), sampler_(sampler), view_(table) {
    sampler_.want(wanted_by(view_));
  }

  // Runs until the user quits, or the terminal is gone.
  void run() {
    draw();
    while (!view_.quits()) {
      const auto input = terminal_.wait();
      if (input.is_over) return;
      for (const top::Key key : top::read_keys(input.bytes)) view_.press(key, frame_);
      sampler_.want(wanted_by(view_));
      if (auto sample = sampler_.take()) take(*std::move(sample));
      draw();
    }
  }

 private:
  void take(top::Sample sample) {
    if (!sample) {
      trouble_ = escaped(sample.error().message);
      return;
    }
    trouble_.clear();
    // A sample that a key requested comes between two intervals: it does not start a new interval,
    // so rates cover whole ones.
    if (now_ && top::is_same_process(sample->stats, now_->stats) &&
        sample->stats.uptime_seconds - now_->stats.uptime_seconds < 0.09 && before_) {
      now_ = *std::move(sample);
    } else {
      before_ = std::exchange(now_, *std::move(sample));
    }
    frame_ = top::make_frame(before_ ? &*before_ : nullptr, *now_);
    view_.follow(frame_);
  }

  void draw() {
    if (!now_ && trouble_.empty()) frame_.title = "corolane top: asking the node";
    const auto style = has_colors_ ? top::Style::colored : top::Style::plain;
    terminal_.show(top::draw(frame_, view_, terminal_.size(), style, trouble_));
  }

  top::Terminal& terminal_;
  top::Sampler& sampler_;
  const bool has_colors_ = has_colors();
  top::View view_;
  // An empty frame shows the table with its columns from the beginning.
  top::Frame frame_ = top::make_frame(nullptr, top::Snapshot());
  std::optional<top::Snapshot> before_;
  std::optional<top::Snapshot> now_;
  std::string trouble_;
};

Outcome run_live(const Plan& plan, const Arguments& arguments) {
  auto terminal = top::Terminal::open();
  if (!terminal) return failed("corolane: " + terminal.error().message());
  top::Sampler sampler(plan.door, arguments, plan.interval, [&] { (*terminal)->wake(); });
  Live(**terminal, sampler, plan.table).run();
  return "";
}

// The rates of a cluster are those that its nodes report, so one sample is enough.
Outcome cluster_once(top::Asker& asker, bool as_json) {
  const auto now = asker.ask({.cluster = true});
  if (!now) return std::unexpected(now.error());
  return as_json
             ? top::cluster_json(*now->cluster)
             : top::frame_text(top::make_frame(nullptr, *now), top::View(top::TableKind::cluster));
}

// A frame needs two samples.
Outcome run_once(const Plan& plan, const Arguments& arguments, bool as_json) {
  return run_on_network(arguments, [&](net::Network& network) -> Outcome {
    top::Asker asker(network, plan.door);
    if (plan.table == top::TableKind::cluster) return cluster_once(asker, as_json);
    const auto before = asker.ask({});
    if (!before) return std::unexpected(before.error());
    static_cast<void>(coroutine::sleep_for(plan.interval));
    const auto now = asker.ask({});
    if (!now) return std::unexpected(now.error());
    return as_json ? top::frame_json(&*before, *now)
                   : top::frame_text(top::make_frame(&*before, *now), top::View());
  });
}

Outcome run_json(const Plan& plan, const Arguments& arguments) {
  return run_on_network(arguments, [&](net::Network& network) -> Outcome {
    top::Asker asker(network, plan.door);
    std::optional<top::Snapshot> before;
    coroutine::Ticker ticker(plan.interval);
    const bool is_of_cluster = plan.table == top::TableKind::cluster;
    while (std::cout) {
      auto now = asker.ask({.cluster = is_of_cluster});
      if (!now) return std::unexpected(now.error());
      if (is_of_cluster) std::cout << top::cluster_json(*now->cluster) << std::flush;
      if (before && !is_of_cluster) std::cout << top::frame_json(&*before, *now) << std::flush;
      before = *std::move(now);
      if (auto tick = ticker.next(Deadline::never()); !tick) break;
    }
    return "";
  });
}

Outcome run_top(const Arguments& arguments) {
  std::vector<std::string> words;
  auto door = find_admin_door("top", arguments, words);
  if (!door) return std::unexpected(door.error());
  if (!words.empty()) return wrong_usage("top", "stray argument \"" + words[0] + "\"");
  Plan plan{.door = *std::move(door)};
  if (const auto option = arguments.options.find("--interval"); option != arguments.options.end()) {
    const auto interval = config::parse_duration(option->second);
    if (!interval) return wrong_usage("top", "--interval: " + interval.error().message());
    if (*interval < interval_min) return wrong_usage("top", "--interval is at least 100ms");
    plan.interval = *interval;
  }
  if (arguments.has("--cluster")) plan.table = top::TableKind::cluster;
  const bool as_json = arguments.has("--json");
  if (arguments.has("--once") || (!as_json && !top::is_terminal())) {
    return run_once(plan, arguments, as_json);
  }
  return as_json ? run_json(plan, arguments) : run_live(plan, arguments);
}

}  // namespace

constexpr Command top_command = {
    .name = "top",
    .summary = "shows a node live in the terminal",
    .help = top_help,
    .options = top_options,
    .run = run_top,
    .asks_pages = true,
};

}  // namespace corolane::tools::cli
