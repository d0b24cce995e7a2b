// SPDX-License-Identifier: MIT
// The configuration of a running node, read again: by SIGHUP and by POST /config/reload.
//
//   Reload reload(source, node, {});
//   auto changes = reload.run();
//   if (!changes) return changes.error();
//   for (const config::Change& change : *changes) show(change);
//
// All sources are read and checked as at the start. Changes of live keys take effect on all shards;
// or an error says what is wrong, and nothing has changed. Other changes wait for the next start,
// and the answer says so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/keys.h"
#include "config/origins.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/mutex.h"
#include "framework/node/node.h"

namespace corolane::framework {

// The source of a configuration, and the values that are in effect.
class ConfigSource {
 public:
  virtual ~ConfigSource() = default;

  virtual std::vector<config::Key> keys() const = 0;
  // The origins of the values that are in effect.
  virtual const config::Origins& origins() const = 0;
  // Reads the sources again and applies the live keys to `node`. Returns all differences. Fails
  // with a line for each error, which begins with file and line. Suspends.
  virtual Result<std::vector<config::Change>> reload(Node& node) = 0;
};

// Belongs to the scheduler of the node.
class Reload {
 public:
  struct Options {
    // The node is recorded or replayed: changed files are not part of a recording.
    bool is_refused = false;
    std::function<void(const NodeConfig& config)> on_change = {};
  };

  // Both references outlive the Reload.
  Reload(ConfigSource& source, Node& node, Options options)
      : source_(source), node_(node), options_(std::move(options)) {}

  // Reloads, one at a time, and logs the result. Suspends, whether or not the calling task is
  // cancelled. Fails as ConfigSource::reload(), with failed_precondition when the node is recorded
  // or replayed, and with unavailable when it is starting or stopping.
  Result<std::vector<config::Change>> run();

  const ConfigSource& source() const { return source_; }
  bool shows_origins() const { return !options_.is_refused; }
  // The changes that wait for the next start, as of the last reload.
  const std::vector<config::Change>& pending() const { return pending_; }

 private:
  Result<std::vector<config::Change>> reload();
  void log(const std::vector<config::Change>& changes);

  ConfigSource& source_;
  Node& node_;
  const Options options_;
  coroutine::Mutex one_at_a_time_;
  std::vector<config::Change> pending_;
};

}  // namespace corolane::framework
