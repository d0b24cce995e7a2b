// SPDX-License-Identifier: MIT
// The settings of tracing and of the call log: node.tracing and node.call_log.
//
//   const TracingConfig tracing{.collector = "127.0.0.1:4318", .sample_ratio = 0.1};
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"

namespace corolane::config {
class Section;
}

namespace corolane::framework {

struct TracingConfig {
  std::string collector;  // "host:port"; empty for no tracing.
  double sample_ratio = 0.01;
};

struct CallLogConfig {
  bool errors = true;
  Duration slow_after = std::chrono::seconds(1);
  std::uint64_t one_in = 0;
  std::uint32_t lines_per_second_max = 20;
};

void describe(config::Section& section, TracingConfig& value);
void describe(config::Section& section, CallLogConfig& value);

// Makes the checks of a load.
Result<void> check_collector(const std::string& text);

}  // namespace corolane::framework
