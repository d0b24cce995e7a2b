// SPDX-License-Identifier: MIT
#include "framework/node/detail/service_manager.h"

#include <systemd/sd-daemon.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "coroutine/base/text.h"
#include "coroutine/sync/ticker.h"
#include "framework/cluster/cluster.h"
#include "rpc/server/server.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// The interval of the status when the manager has no watchdog.
constexpr Duration status_interval = 5s;
// Signs of life within the watchdog timeout: a late one does no harm.
constexpr int signs_per_timeout = 3;

std::string seconds_of(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(duration).count()) + " s";
}

}  // namespace

ServiceWishes ServiceWishes::of_process() {
  if (std::getenv("NOTIFY_SOCKET") == nullptr) return {};
  std::uint64_t timeout_us = 0;
  const bool watches = ::sd_watchdog_enabled(/*unset_environment=*/0, &timeout_us) > 0;
  const Duration timeout = std::chrono::microseconds(timeout_us);
  return {.is_there = true, .interval = watches ? timeout / signs_per_timeout : status_interval};
}

ServiceManager::ServiceManager(Node& node, ServiceWishes wishes) : node_(node), wishes_(wishes) {}

void ServiceManager::tell_ready() {
  tell("READY=1\nSTATUS=" + status());
  if (wishes_.interval == Duration::zero()) return;
  auto spawned = signs_.spawn("signs of life for the service manager", [this] { give_signs(); },
                              {.purpose = coroutine::StackPool::Purpose::control});
  if (!spawned) node_.log().error("no signs of life", {{"error", spawned.error().message()}});
}

void ServiceManager::tell_failed(const Error& error) { tell("STATUS=" + escaped(error.message())); }

void ServiceManager::tell_stopping(Duration time_max) {
  const auto time_us = std::chrono::ceil<std::chrono::microseconds>(time_max);
  tell("STOPPING=1\nEXTEND_TIMEOUT_USEC=" + std::to_string(time_us.count()) +
       "\nSTATUS=stops, within " + seconds_of(time_max));
}

void ServiceManager::give_signs() {
  coroutine::Ticker ticker(wishes_.interval);
  while (ticker.next(Deadline::never())) {
    // Suspends while a shard hangs, unlike from_each_shard().
    std::vector<std::size_t> running_counts(node_.shard_count());
    auto counted = node_.on_each_shard([&](const Shard& shard) -> Result<void> {
      running_counts[shard.index()] = shard.rpc_server().statistics().running_count;
      return {};
    });
    // A shard without a free stack has turned, too: it has refused.
    std::string text = "WATCHDOG=1\nSTATUS=" + status();
    if (counted) {
      const auto count =
          std::accumulate(running_counts.begin(), running_counts.end(), std::size_t{0});
      text += ", " + std::to_string(count) + " calls running";
    }
    tell(text);
  }
}

std::string ServiceManager::status() const {
  std::string text = node_.is_stopping() ? "stops" : "serves on ";
  if (!node_.is_stopping()) text += to_string(node_.endpoints().clients);
  const Cluster* const cluster = node_.cluster();
  if (cluster == nullptr) return text;
  if (!node_.fence().is_in_time() && !node_.is_stopping()) {
    return "fenced: does not hear from the directory and serves no objects";
  }
  return text + ", " + std::to_string(cluster->statistics().owned_count) + " partitions, " +
         std::to_string(cluster->view()->members().size()) + " nodes";
}

void ServiceManager::tell(const std::string& state) {
  if (!wishes_.is_there) return;
  const int told = ::sd_notify(/*unset_environment=*/0, state.c_str());
  if (told >= 0) {
    hears_ = true;
    return;
  }
  // Logged once per outage.
  if (std::exchange(hears_, false)) {
    node_.log().warning("the service manager does not hear",
                        {{"error", std::generic_category().message(-told)}});
  }
}

}  // namespace corolane::framework::detail
