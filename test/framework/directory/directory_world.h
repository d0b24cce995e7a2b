// SPDX-License-Identifier: MIT
// Provides an empty directory to the contract tests of all directories.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "framework/directory/directory.h"
#include "test/fixtures/real_loop.h"

namespace corolane::test {

class DirectoryWorld {
 public:
  virtual ~DirectoryWorld() = default;

  // Why it cannot run on this machine; empty when it can.
  virtual std::string obstacle() const { return ""; }
  // Calls `body` on a task with a directory whose keys belong to this test alone.
  virtual void run(const std::function<void(framework::Directory&)>& body) = 0;
};

struct WorldKind {
  std::string name;
  std::function<std::unique_ptr<DirectoryWorld>()> make;

  friend std::ostream& operator<<(std::ostream& out, const WorldKind& kind) {
    return out << kind.name;
  }
};

// Fails the test when the put fails.
inline framework::Directory::Revision put(framework::Directory& directory, std::string key,
                                          std::string value = "",
                                          framework::Directory::Lease lease = 0) {
  const auto outcome = directory.commit(
      {.puts = {{.key = std::move(key), .value = std::move(value), .lease = lease}}}, soon());
  EXPECT_TRUE(outcome) << outcome;
  return outcome ? outcome->revision : 0;
}

}  // namespace corolane::test
