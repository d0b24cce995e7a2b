// SPDX-License-Identifier: MIT
// Revokes the lease of a dead node in the directory of its cluster.
//
// Other nodes may take over its objects only when its lease is gone, and an unrevoked lease takes
// some seconds to expire. A supervisor knows at once that the node is dead. The node writes the
// number of its lease to a file; the node's program can reach the directory, and revokes it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/corolane/run/child.h"

namespace corolane::tools::cli::run {

class LeaseKeeper {
 public:
  // `words` run the node; with --revoke-lease N appended, they revoke a lease.
  LeaseKeeper(std::vector<std::string> words, std::function<void(const std::string& line)> tell);
  // Removes the file.
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // The variable for the environment of the node. It is empty, and the node writes no file, where
  // no folder can be made.
  std::string variable() const { return "COROLANE_LEASE_FILE=" + file(); }
  // Call this only when the process of the node is dead. Blocks for ten seconds at most, and
  // reports the result. Does nothing for a node without a lease.
  void revoke() const;

 private:
  std::string file() const { return folder_.empty() ? "" : folder_ + "/lease"; }

  const std::vector<std::string> words_;
  const std::function<void(const std::string& line)> tell_;
  std::string folder_;  // The folder of the file, accessible only to us; empty without one.
};

}  // namespace corolane::tools::cli::run
