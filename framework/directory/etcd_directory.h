// SPDX-License-Identifier: MIT
// The directory of a cluster in etcd (https://etcd.io), version 3.4 or later.
//
//   EtcdDirectory directory(network, {.endpoints = {{"10.0.0.5", 2379}, {"10.0.0.6", 2379}}});
//
// It uses the JSON gateway on the client port of etcd, over TLS with a net::TlsNetwork. Calls may
// overlap.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/directory/directory.h"
#include "net/endpoint.h"
#include "net/http/http_lines.h"
#include "net/network.h"

namespace corolane::framework {

namespace detail {
class EtcdClient;
class EtcdJson;
}  // namespace detail

class EtcdDirectory final : public Directory {
 public:
  struct Options {
    // Members of one etcd cluster. Requests go to one member until it fails, then to the next.
    std::vector<net::HostPort> endpoints = {{.host = "127.0.0.1", .port = 2379}};
    // Prefix of every key; clusters that share an etcd need different ones.
    std::string key_prefix = "/corolane/";
    // Empty when etcd requires no authentication.
    std::string user = {};
    std::string password = {};
    // A member that takes longer counts as unavailable. It is longer than the slowest disk, and
    // short enough to try another member within a lease of six seconds.
    std::chrono::milliseconds request_time_max{2'000};
    // For all calls but keep_alive() and watch(), which have connections of their own. Further
    // calls wait.
    std::size_t connection_count_max = 4;
    // For the answer to list(): some ten thousand entries.
    std::size_t response_bytes_max = 16 * 1024 * 1024;
    // A watch that is silent for longer is restarted at its revision, since its member may have
    // died without closing the connection. A shorter --experimental-watch-progress-notify-interval
    // of etcd avoids restarts and keeps that revision recent.
    std::chrono::milliseconds watch_silence_max{30'000};
  };

  // `network` outlives it. Connects on demand.
  EtcdDirectory(net::Network& network, Options options);
  // No call may be in progress.
  ~EtcdDirectory() override;
  EtcdDirectory(const EtcdDirectory&) = delete;
  EtcdDirectory& operator=(const EtcdDirectory&) = delete;

  // Fail also with resource_exhausted when etcd is full or an answer is too large.
  Result<Lease> grant(std::chrono::seconds time_to_live, Deadline deadline) override;
  Result<void> keep_alive(Lease lease, Deadline deadline) override;
  Result<void> revoke(Lease lease, Deadline deadline) override;
  Result<Snapshot> list(std::string_view prefix, Deadline deadline) override;
  Result<Recent> list_since(std::string_view prefix, Revision since, Deadline deadline) override;
  Result<Snapshot> read(std::span<const std::string> keys, Deadline deadline) override;
  Result<Outcome> commit(const Transaction& transaction, Deadline deadline) override;

  // Calls on_change in the caller's task. Fails with unavailable when its member goes away or loses
  // contact with the others: then it may be called again.
  Result<void> watch(std::string_view prefix, Revision from, const OnChange& on_change) override;

  bool is_shared() const override { return true; }
  std::string name() const override;

 private:
  // Reads the lines of a watch and updates the next revision to watch from. Returns success when
  // the watch is silent for too long.
  Result<void> follow(net::HttpLines& lines, const OnChange& on_change, Revision& next) const;

  const Options options_;
  const std::unique_ptr<const detail::EtcdJson> json_;
  const std::unique_ptr<detail::EtcdClient> client_;
};

}  // namespace corolane::framework
