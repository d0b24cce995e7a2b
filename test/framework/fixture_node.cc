// SPDX-License-Identifier: MIT
// A program that is a node with the slow service: run_main_test runs it.
#include "framework/recording/file_recorder.h"
#include "framework/run/run_main.h"
#include "test/framework/slow_service.h"

namespace corolane::test {
namespace {

struct SlowConfig {
  static constexpr const char* section = "slow";

  int weight = 7;
  bool refuse = false;
  std::string password = {};
};

void describe(config::Section& section, SlowConfig& value) {
  section.field("weight", value.weight, "Is of no consequence.", config::between(0, 100));
  section.field("refuse", value.refuse, "The service cannot be made.");
  section.field("password", value.password, "Opens nothing.", config::secret);
}

Result<void> set_up(framework::Node& node, const SlowConfig& config) {
  if (config.refuse) return Error(Code::failed_precondition, "no weights are available");
  node.serve([](framework::Shard&) { return std::make_unique<SlowService>(); });
  return {};
}

}  // namespace
}  // namespace corolane::test

int main(int argc, char** argv) {
  const corolane::framework::recording::FileRecorder recorder;
  return corolane::framework::run_main(argc, argv, corolane::test::set_up, &recorder);
}
