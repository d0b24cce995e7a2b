// An etcd of a test's own: it listens on ports that were free, keeps its data in a temporary
// folder, and is gone with both.
//
//   EtcdServer etcd;
//   etcd.start();
//   EtcdDirectory directory(network, {.endpoints = {etcd.host()}});
//
// Its calls block the thread.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/testing/temporary_folder.h"
#include "net/endpoint.h"
#include "tools/processes/child_process.h"

namespace corolane::test {

class EtcdServer {
 public:
  struct Options {
    std::string scheme = "http";              // Of its clients; with https they need certificates.
    std::vector<std::string> arguments = {};  // "--auth-token-ttl=1", besides ours.
  };

  // Why no test can have one on this machine; empty when it can.
  static std::string obstacle();

  EtcdServer() : EtcdServer(Options{}) {}
  explicit EtcdServer(Options options);
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  // Runs it, with what it kept when it ran before. Returns when it answers.
  void start();
  // The same for the members of one etcd, which need each other to answer.
  static void start_cluster(const std::vector<EtcdServer*>& members);
  // As if its machine had lost its power.
  void kill() { process_.reset(); }
  // As if its machine did not get to do anything for a while.
  void freeze() { process_->freeze(); }
  void thaw() { process_->send_signal(SIGCONT); }

  const net::HostPort& host() const { return host_; }

 private:
  std::string name() const { return "member" + std::to_string(peer_port_); }
  std::string peer_url() const { return "http://127.0.0.1:" + std::to_string(peer_port_); }
  void run(std::vector<std::string> arguments);
  void wait_until_healthy();

  const Options options_;
  const net::HostPort host_;
  const std::uint16_t peer_port_;
  const std::uint16_t health_port_;
  TemporaryFolder folder_;
  std::optional<ChildProcess> process_;
};

// One for all tests that do no harm to it; begins when it is needed.
EtcdServer& shared_etcd();

}  // namespace corolane::test
