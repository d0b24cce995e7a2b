// SPDX-License-Identifier: MIT
#include "tools/corolane/version.h"

#include "framework/telemetry/version.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view version_help =
    R"(Usage: corolane version

Prints the version of corolane.
)";

Outcome run_version(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (!words.empty()) return wrong_usage("version", "stray argument \"" + words[0] + "\"");
  return version_text();
}

}  // namespace

std::string version_text() { return "corolane " + std::string(framework::version()) + "\n"; }

constexpr Command version_command = {
    .name = "version",
    .summary = "prints the version",
    .help = version_help,
    .options = {},
    .run = run_version,
};

}  // namespace corolane::tools::cli
