// SPDX-License-Identifier: MIT
#include "framework/telemetry/exemplars.h"

#include <algorithm>

#include "framework/telemetry/call_metrics.h"

namespace corolane::framework {

std::span<const MetricExemplar> Exemplars::of(std::string_view method) const {
  const auto found = by_method_.find(method);
  if (found == by_method_.end()) return {};
  return found->second;
}

void Exemplars::note(std::string_view method, Duration took, const rpc::TraceContext& trace,
                     std::chrono::nanoseconds unix_time) {
  // The histogram counts whole microseconds.
  const auto took_us = static_cast<std::uint64_t>(
      std::max(std::chrono::duration_cast<std::chrono::microseconds>(took).count(), 0L));
  const auto bucket_of = [](std::uint64_t us) {
    return std::ranges::lower_bound(call_bounds_us, us) - call_bounds_us.begin();
  };
  auto found = by_method_.find(method);
  if (found == by_method_.end()) {
    if (by_method_.size() >= method_count_max) return;
    found = by_method_.emplace(method, std::vector<MetricExemplar>()).first;
  }
  const MetricExemplar exemplar = {
      .value = static_cast<double>(took_us) / 1e6, .trace = trace, .unix_time = unix_time};
  for (MetricExemplar& one : found->second) {
    const auto one_us = static_cast<std::uint64_t>(one.value * 1e6 + 0.5);
    if (bucket_of(one_us) != bucket_of(took_us)) continue;
    one = exemplar;
    return;
  }
  found->second.push_back(exemplar);
}

}  // namespace corolane::framework
