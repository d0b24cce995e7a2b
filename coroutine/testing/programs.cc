// SPDX-License-Identifier: MIT
#include "coroutine/testing/programs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace corolane::test {

std::string missing_program(std::string_view program) {
  const char* const path = std::getenv("PATH");
  for (std::string_view folders = path == nullptr ? "" : path; !folders.empty();) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    const std::string file = std::string(folder).append("/").append(program);
    if (::access(file.c_str(), X_OK) == 0) return "";
  }
  return std::string(program) + " is missing; tools/setup --tests installs it";
}

bool is_under_ci() {
  const char* const ci = std::getenv("CI");
  return ci != nullptr && std::string_view(ci) == "true";
}

}  // namespace corolane::test
