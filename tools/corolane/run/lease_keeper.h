// Takes back what a dead node has in the directory of its cluster.
//
// Others may only own what a node had when its lease is gone, which takes some seconds where nobody
// knows whether it lives. A supervisor knows. A node that has a lease writes its number to a file;
// the program of the node, which knows how to reach the directory, revokes it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/corolane/run/child.h"

namespace corolane::tools::cli::run {

class LeaseKeeper {
 public:
  // `words` run the node; with --revoke-lease N behind them they revoke.
  LeaseKeeper(std::vector<std::string> words, std::function<void(const std::string& line)> tell);
  // Removes the file.
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // For the environment of the node.
  std::string variable() const { return "COROLANE_LEASE_FILE=" + file(); }
  // Only when the process of the node is dead. Blocks for ten seconds at most, and says what came
  // of it; a node without a lease needs nothing.
  void revoke() const;

 private:
  std::string file() const { return folder_ + "/lease"; }

  const std::vector<std::string> words_;
  const std::function<void(const std::string& line)> tell_;
  std::string folder_;  // Of the file, readable by us alone.
};

}  // namespace corolane::tools::cli::run
