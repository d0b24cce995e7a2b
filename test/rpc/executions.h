// SPDX-License-Identifier: MIT
// The executions that a test of chaos has seen.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace corolane::test {

// How often each payload was executed.
inline std::map<std::string, int> counts_of(const std::vector<std::string>& payloads) {
  std::map<std::string, int> counts;
  for (const std::string& payload : payloads) ++counts[payload];
  return counts;
}

}  // namespace corolane::test
