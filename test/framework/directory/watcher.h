// SPDX-License-Identifier: MIT
// A task that watches a directory and records the changes.
//
//   Watcher watcher(directory, "nodes/", snapshot.revision + 1);
//   ...
//   EXPECT_THAT(watcher.wait_for(2), ElementsAre("nodes/a=1 @3", "nodes/a gone @4"));
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "framework/directory/directory.h"
#include "test/fixtures/real_loop.h"

namespace corolane::test {

class Watcher {
 public:
  using Directory = framework::Directory;

  Watcher(Directory& directory, std::string prefix, Directory::Revision from)
      : task_(coroutine::spawn("watcher", [this, &directory, prefix = std::move(prefix), from] {
          return directory.watch(prefix, from, [this](const auto& change) { hear(change); });
        })) {}

  // Suspends until there are `count` changes; all that were recorded.
  const std::vector<std::string>& wait_for(std::size_t count) {
    const Deadline deadline = soon();
    while (texts.size() < count && heard_.wait(deadline)) {
    }
    return texts;
  }

  // The result of the watch. Suspends until the watch has ended.
  Result<void> join() { return task_.join(soon()); }
  void cancel() { task_.cancel(); }

  std::vector<Directory::Change> changes;
  std::vector<std::string> texts;  // "key=value @7", "key gone @8".

 private:
  void hear(const Directory::Change& change) {
    changes.push_back(change);
    texts.push_back(change.entry.key + (change.is_removed ? " gone" : "=" + change.entry.value) +
                    " @" + std::to_string(change.entry.modified_at));
    heard_.pulse();
  }

  coroutine::Event heard_{"a change"};
  coroutine::Task<void> task_;
};

}  // namespace corolane::test
