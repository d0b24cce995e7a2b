// SPDX-License-Identifier: MIT
// An etcd for one test: it listens on reserved ports, keeps its data in a temporary folder, and
// both disappear with it.
//
//   EtcdServer etcd;
//   etcd.start();
//   EtcdDirectory directory(network, {.endpoints = {etcd.host()}});
//
// All calls block the thread.
#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/testing/temporary_folder.h"
#include "net/endpoint.h"
#include "tools/processes/child_process.h"
#include "tools/processes/reserved_port.h"

namespace corolane::test {

class EtcdServer {
 public:
  struct Options {
    std::string scheme = "http";              // For its clients; with https they need certificates.
    std::vector<std::string> arguments = {};  // Added to ours, such as "--auth-token-ttl=1".
  };

  // Why this machine cannot run one; empty when it can.
  static std::string obstacle();

  EtcdServer() : EtcdServer(Options{}) {}
  explicit EtcdServer(Options options);
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  // Runs it with the data of its last run. Returns when it answers.
  void start();
  // Starts the members of one etcd, which need one another to answer.
  static void start_cluster(const std::vector<EtcdServer*>& members);
  // Simulates a power loss of its machine.
  void kill() { process_.reset(); }
  // Simulates a suspended machine.
  void freeze() { process_->freeze(); }
  void thaw() { process_->send_signal(SIGCONT); }

  const net::HostPort& host() const { return host_; }

 private:
  std::string name() const { return "member" + std::to_string(peer_port_.number()); }
  std::string peer_url() const { return "http://127.0.0.1:" + std::to_string(peer_port_.number()); }
  void run(std::vector<std::string> arguments);
  void wait_until_healthy();

  const Options options_;
  const ReservedPort client_port_;
  const ReservedPort peer_port_;
  const ReservedPort health_port_;
  const net::HostPort host_;
  TemporaryFolder folder_;
  std::optional<ChildProcess> process_;
};

// One etcd for all tests that do not harm it; started on first use.
EtcdServer& shared_etcd();

}  // namespace corolane::test
