// The configuration of a running node, read again: by SIGHUP and by POST /config/reload.
//
// All sources are read and checked as at the start. What is live of the result becomes effective on
// all shards, or an error says what is wrong and nothing has changed. What is not live waits for
// the next start, and whoever asked is told so.
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

// Where a configuration comes from, and what is in effect of it.
class ConfigSource {
 public:
  virtual ~ConfigSource() = default;

  virtual std::vector<config::Key> keys() const = 0;
  // Of the values that are in effect.
  virtual const config::Origins& origins() const = 0;
  // Reads it again and gives `node` what is live. Returns all that differs. Fails with a line for
  // each error, which begins with file and line. Suspends.
  virtual Result<std::vector<config::Change>> reload(Node& node) = 0;
};

// Belongs to the scheduler of the node.
class Reload {
 public:
  struct Options {
    // The node is recorded, or lives again: files that change are not part of that.
    bool is_refused = false;
    std::function<void(const NodeConfig& config)> on_change = {};
  };

  // Both outlive it.
  Reload(ConfigSource& source, Node& node, Options options)
      : source_(source), node_(node), options_(std::move(options)) {}

  // One after the other, whoever asks. Logs what it has done. Suspends, whether or not the calling
  // task is cancelled. Fails as ConfigSource::reload(), with failed_precondition for a node that is
  // recorded, and with unavailable for one that stops.
  Result<std::vector<config::Change>> run();

  const ConfigSource& source() const { return source_; }
  bool shows_origins() const { return !options_.is_refused; }
  // What waited for the next start when it was read last.
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
