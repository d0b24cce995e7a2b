// SPDX-License-Identifier: MIT
// JSON stays out of the header: it is slow to compile.
#include "test/framework/telemetry/fake_collector.h"

#include <nlohmann/json.hpp>

namespace corolane::test {

std::vector<std::string> FakeCollector::spans() const {
  std::vector<std::string> all;
  for (const std::string& body : taken_) {
    const auto request = nlohmann::json::parse(body);
    if (!request.contains("resourceSpans")) continue;
    for (const auto& span : request["resourceSpans"][0]["scopeSpans"][0]["spans"]) {
      all.push_back(span.dump());
    }
  }
  return all;
}

}  // namespace corolane::test
