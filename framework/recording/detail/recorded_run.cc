// SPDX-License-Identifier: MIT
#include "framework/recording/detail/recorded_run.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/select.h"
#include "framework/node/detail/backends.h"
#include "framework/node/detail/stop_signal.h"
#include "framework/node/node_parts.h"
#include "framework/recording/detail/file_feed.h"
#include "framework/recording/detail/inbox.h"
#include "framework/recording/detail/inbox_network.h"
#include "framework/recording/detail/inbox_store.h"
#include "framework/recording/detail/live_feed.h"
#include "framework/recording/detail/outside.h"
#include "framework/telemetry/build_id.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"

namespace corolane::framework::recording {
namespace {

using framework::detail::exit_failed;
using framework::detail::exit_ok;

// Runs the node on the calling thread.
int live(const NodeConfig& config, Inbox& inbox, Fence::Clock clock, Log& log, const Life& life,
         std::function<void()> ask_to_stop) {
  coroutine::Scheduler scheduler(
      inbox,
      {.stacks = {.stack_count_max = config.stacks.count_max},
       // Sampled data differ between runs and would change pages and metrics.
       .switch_sample_interval = 0,
       .create_sample_interval = 0,
       .stack_sample_interval = 0,
       .cpu_sample_interval = Duration::zero(),
       .on_stray_exception = [&log](const auto& stray) { log_stray_exception(log, stray); }});
  int status = exit_failed;
  const auto ran = scheduler.run("main", [&] {
    InboxNetwork network(inbox);
    Node::Parts parts{.clock = clock};
    if (config.store.kind == StoreKind::sqlite) {
      parts.store = std::make_shared<InboxStore>(inbox, "sqlite " + config.store.file);
    }
    status = life({.network = network,
                   .parts = parts,
                   .wait_for_signal = [&inbox] { return inbox.wait_for_signal(); },
                   .ask_to_stop = std::move(ask_to_stop)});
  });
  if (!ran) log.error("the node did not run", {{"error", ran.error().message()}});
  return status;
}

// The same clock under another name, which disables the watchdogs of the node.
TimePoint recorded_boot_time() { return boot_time(); }

std::string summary(const Inbox& inbox) {
  char text[200];
  std::snprintf(text, sizeof(text), "%llu turns with %llu arrivals, %.3f s of the node's time",
                static_cast<unsigned long long>(inbox.turn_count()),
                static_cast<unsigned long long>(inbox.arrival_count()),
                std::chrono::duration<double>(inbox.elapsed()).count());
  return text;
}

std::string hash_text(const Inbox& inbox) {
  char text[20];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(inbox.hash()));
  return text;
}

}  // namespace

Result<int> run_recorded(const NodeConfig& config, Header header, Log& log, const Life& life) {
  header.set_build_id(own_build_id());
  auto file = RecordingWriter::create(
      config.record.file, static_cast<std::size_t>(config.record.size_max.count), header);
  if (!file) return std::move(file.error()).with_context("node.record.file");
  net::EventLoop loop;
  net::UvNetwork network(loop);
  // Each connection has a task.
  coroutine::Scheduler scheduler(
      loop,
      {.stacks = {.stack_count_max = config.stacks.count_max + config.clients.connections_max}});
  detail::StopSignal stop_signal(scheduler, config.stop_time_max + detail::unwind_time_max, log);
  int status = exit_failed;
  auto ran = scheduler.run("outside", [&] {
    LiveFeed feed(**file, log);
    Outside outside(
        network, [&] { return detail::open_store(config.store, config.cluster.name, network); },
        [&feed](Arrival arrival) { feed.push(std::move(arrival)); });
    feed.set_outside(outside);
    coroutine::Event ended("the end of a recorded node");
    std::thread node([&] {
      Inbox inbox(feed);
      status = live(config, inbox, boot_time, log, life, [&stop_signal] { stop_signal.ask(); });
      feed.end();
      log.info("recorded", {{"file", config.record.file},
                            {"bytes", (*file)->size()},
                            {"turns", inbox.turn_count()},
                            {"arrivals", inbox.arrival_count()},
                            {"hash", hash_text(inbox)}});
      scheduler.post([&ended] { ended.set(); });
    });
    auto first = coroutine::select(ended.waiting(), stop_signal.arriving(), Deadline::never());
    if (first && first->index() == 1) {
      const auto signal = stop_signal.wait().value();
      Arrival arrival;
      arrival.mutable_signal()->set_number(signal.number);
      arrival.mutable_signal()->set_time(signal.time.time_since_epoch().count());
      feed.push(std::move(arrival));
      static_cast<void>(ended.wait(Deadline::never()));
    }
    node.join();
  });
  if (!ran) return std::move(ran.error());
  return status;
}

Result<int> run_replayed(const NodeConfig& config, std::unique_ptr<RecordingReader> file,
                         const std::string& trace_path, Log& log, const Life& life) {
  std::FILE* trace = nullptr;
  if (!trace_path.empty()) {
    trace = std::fopen(trace_path.c_str(), "we");
    if (trace == nullptr) {
      return Error(Code::not_found, trace_path + ": " + std::generic_category().message(errno));
    }
    // Line buffered, so the trace is complete up to a crash.
    std::setvbuf(trace, nullptr, _IOLBF, 0);
  }
  if (file->header().build_id() != own_build_id()) {
    log.warning("another build of this program was recorded; this one may behave differently", {});
  }
  const auto begin = std::chrono::steady_clock::now();
  const Inbox* replayed = nullptr;
  const auto report = [&](const std::string& how, bool is_same) {
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (is_same) {
      std::printf("%sreplayed %s, in %.3f s: the same trace, hash %s\n",
                  how.empty() ? "" : (how + "\n").c_str(), summary(*replayed).c_str(), took,
                  hash_text(*replayed).c_str());
    } else {
      std::printf("the replay differs in turn %llu, after %s: %s\n",
                  static_cast<unsigned long long>(replayed->turn_count()),
                  summary(*replayed).c_str(), how.c_str());
    }
    std::fflush(stdout);
    return is_same ? exit_ok : exit_failed;
  };
  FileFeed feed(std::move(file), [&](const std::string& how, bool is_same) {
    // Called anywhere in the node, which cannot continue.
    std::_Exit(report(how, is_same));
  });
  Inbox inbox(feed);
  inbox.set_trace(trace);
  replayed = &inbox;
  static_cast<void>(live(config, inbox, recorded_boot_time, log, life, [] {}));
  feed.end();
  const int status = report("", true);
  if (trace != nullptr) static_cast<void>(std::fclose(trace));
  return status;
}

}  // namespace corolane::framework::recording
