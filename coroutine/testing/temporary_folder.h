// SPDX-License-Identifier: MIT
// A folder for one test, deleted at its end with all of its content.
//
//   const TemporaryFolder folder;
//   const std::filesystem::path config = folder.path() / "node.yaml";
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "coroutine/base/check.h"

namespace corolane::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    // mkdtemp() replaces the six X with a unique name.
    std::string path = std::filesystem::temp_directory_path() / "corolane-test-";
    path.append(6, 'X');
    check(::mkdtemp(path.data()) != nullptr, "a test may make a folder");
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace corolane::test
