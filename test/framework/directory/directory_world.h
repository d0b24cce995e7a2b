// Where the tests of what all directories promise find an empty one.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "framework/directory.h"

namespace corolane::test {

class DirectoryWorld {
 public:
  virtual ~DirectoryWorld() = default;

  // Why it cannot be had on this machine; empty when it can.
  virtual std::string obstacle() const { return ""; }
  // Calls `body` on a task with a directory of which nobody else has the keys.
  virtual void run(const std::function<void(framework::Directory&)>& body) = 0;
};

struct DirectoryKind {
  std::string name;
  std::function<std::unique_ptr<DirectoryWorld>()> make;

  friend std::ostream& operator<<(std::ostream& out, const DirectoryKind& kind) {
    return out << kind.name;
  }
};

}  // namespace corolane::test
