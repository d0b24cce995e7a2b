// The directory of a cluster: an etcd (https://etcd.io), version 3.4 or later.
//
//   EtcdDirectory directory(network, {.endpoints = {{"10.0.0.5", 2379}, {"10.0.0.6", 2379}}});
//
// It is asked by the JSON gateway on its client port. A net::TlsNetwork asks inside of TLS. Several
// calls may be under way at once.
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
    // Members of the same etcd. One is asked for as long as it answers, then the next.
    std::vector<net::HostPort> endpoints = {{.host = "127.0.0.1", .port = 2379}};
    // Before every key: clusters that share an etcd have different ones.
    std::string key_prefix = "/corolane/";
    // Empty when etcd does not ask who we are.
    std::string user = {};
    std::string password = {};
    // Who takes longer is away: as if the deadline had passed, but it is unavailable. Beyond what
    // a disk takes at its worst, and short enough that another member can be asked while a lease
    // of six seconds lasts.
    std::chrono::milliseconds request_time_max{2'000};
    // For all calls but keep_alive() and watch(), which have their own. What exceeds it waits.
    std::size_t connection_count_max = 4;
    // Of what list() returns: some ten thousand entries.
    std::size_t response_bytes_max = 16 * 1024 * 1024;
    // A watch that hears nothing for so long begins anew where it was, since its etcd may have died
    // without a word. With --experimental-watch-progress-notify-interval below that it does not
    // need to, and remembers better what it has seen.
    std::chrono::milliseconds watch_silence_max{30'000};
  };

  // `network` outlives it. Connects when it is needed.
  EtcdDirectory(net::Network& network, Options options);
  // Nobody may be inside of its calls.
  ~EtcdDirectory() override;
  EtcdDirectory(const EtcdDirectory&) = delete;
  EtcdDirectory& operator=(const EtcdDirectory&) = delete;

  // Fail besides with resource_exhausted when etcd, or an answer, is full.
  Result<Lease> grant(std::chrono::seconds time_to_live, Deadline deadline) override;
  Result<void> keep_alive(Lease lease, Deadline deadline) override;
  Result<void> revoke(Lease lease, Deadline deadline) override;
  Result<Snapshot> list(std::string_view prefix, Deadline deadline) override;
  Result<Outcome> commit(const Transaction& transaction, Deadline deadline) override;

  // Tells of changes on the caller's task. Fails with unavailable when its etcd goes away or loses
  // touch with the others: then it may be called again.
  Result<void> watch(std::string_view prefix, Revision from, const OnChange& on_change) override;

  bool is_shared() const override { return true; }
  std::string name() const override;

 private:
  // Reads what a watch says, and notes from where to watch next. Succeeds when it has become
  // silent.
  Result<void> follow(net::HttpLines& lines, const OnChange& on_change, Revision& next) const;

  const Options options_;
  const std::unique_ptr<const detail::EtcdJson> json_;
  const std::unique_ptr<detail::EtcdClient> client_;
};

}  // namespace corolane::framework
