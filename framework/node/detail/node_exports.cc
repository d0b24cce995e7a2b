// SPDX-License-Identifier: MIT
#include "framework/node/detail/node_exports.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "framework/telemetry/otlp_metrics.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// All metrics are one text of some hundred KiB.
constexpr coroutine::TaskOptions exports_task = {.stack_size_bytes = 256 * 1024,
                                                 .purpose = coroutine::StackPool::Purpose::control};

constexpr Duration lines_interval = 1s;

}  // namespace

NodeExports::NodeExports(net::Network& network, const OtlpConfig& config, OtlpResource resource,
                         Log& log, Collect collect)
    : config_(config),
      resource_(std::move(resource)),
      log_(log),
      collect_(std::move(collect)),
      transport_(make_otlp_transport(config, network)) {
  if (config.logs) {
    auto options = options_for("log lines", "/v1/logs");
    options.body = [this](std::span<const std::string> lines) {
      return otlp_logs(resource_, lines);
    };
    logs_ = std::make_unique<OtlpExporter>(*transport_, std::move(options));
    log_.set_tap([this](const LogEvent& event) { lines_.take(event); });
  }
  if (config.metrics) {
    // One item is one request: all metrics. While it is on its way, later ones would only be late.
    auto options = options_for("metrics", "/v1/metrics");
    options.body = [](std::span<const std::string> bodies) { return bodies.front(); };
    options.queue_count_max = options.batch_count_max = 1;
    options.batch_time_max = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::max<Duration>(config.metrics_interval, 5s));
    metrics_ = std::make_unique<OtlpExporter>(*transport_, std::move(options));
  }
}

NodeExports::~NodeExports() {
  log_.set_tap(nullptr);
  tasks_.cancel_and_join();
}

OtlpExporter::Options NodeExports::options_for(std::string_view what, const std::string& path) {
  return {.path = path,
          .body = {},
          .on_change = tell_of_collector(log_, *transport_, what),
          .on_partial = tell_of_rejected(log_, *transport_, what)};
}

Result<void> NodeExports::start() {
  if (logs_ != nullptr) {
    auto spawned = spawn("log export", lines_interval, [this] { send_lines(); });
    if (!spawned) return spawned;
  }
  if (metrics_ == nullptr) return {};
  return spawn("metrics export", config_.metrics_interval, [this] { send_metrics(); });
}

Result<void> NodeExports::spawn(const char* name, Duration interval, std::function<void()> send) {
  auto spawned = tasks_.spawn(
      name,
      [this, interval, send = std::move(send)] {
        for (;;) {
          auto waited = stopping_.wait(Deadline::after(interval));
          if (waited || waited.error().code() == Code::cancelled) return;
          send();
        }
      },
      exports_task);
  if (!spawned) return spawned.error();
  return {};
}

void NodeExports::send_metrics() {
  const auto collected = collect_();
  // Without a stack on a shard there is a gap, as on /metrics.
  if (!collected) return metrics_->count_overflow(1);
  metrics_->take([&] { return otlp_metrics(resource_, collected->families(), times()); });
}

// Sums begin at the same time in each request: another one would be a reset to the collector. The
// clock may be set back meanwhile.
OtlpTimes NodeExports::times() const {
  const auto time = std::chrono::nanoseconds(time_of_day().time_since_epoch());
  return {.start = started_at_, .time = std::max(time, started_at_)};
}

void NodeExports::send_lines() {
  logs_->count_overflow(lines_.take_dropped_count());
  for (std::string& line : lines_.drain()) logs_->take([&] { return std::move(line); });
}

void NodeExports::stop(Deadline deadline) {
  stopping_.set();
  if (!tasks_.join(deadline)) tasks_.cancel_and_join();
  if (metrics_ != nullptr) {
    send_metrics();
    metrics_->stop(deadline);
  }
  if (logs_ == nullptr) return;
  log_.set_tap(nullptr);
  send_lines();
  logs_->stop(deadline);
}

NodeExports::Statistics NodeExports::statistics() const {
  Statistics statistics;
  if (logs_ != nullptr) statistics.logs = logs_->statistics();
  if (metrics_ != nullptr) statistics.metrics = metrics_->statistics();
  return statistics;
}

}  // namespace corolane::framework::detail
