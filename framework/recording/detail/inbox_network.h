// SPDX-License-Identifier: MIT
// The network of a recorded or replayed node, as messages of its inbox.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "framework/recording/detail/inbox.h"
#include "net/network.h"

namespace corolane::framework::recording {

class InboxListener;
class InboxStream;

class InboxNetwork final : public net::Network, private Inbox::Network {
 public:
  // `inbox` outlives it.
  explicit InboxNetwork(Inbox& inbox);
  ~InboxNetwork() override;
  InboxNetwork(const InboxNetwork&) = delete;
  InboxNetwork& operator=(const InboxNetwork&) = delete;

  Result<std::unique_ptr<net::Listener>> listen(const net::Endpoint& endpoint,
                                                net::ListenOptions options = {}) override;
  Result<std::unique_ptr<net::Stream>> connect(const net::Endpoint& endpoint, Deadline deadline,
                                               net::StreamOptions options = {}) override;
  Result<std::vector<net::Endpoint>> resolve(const net::HostPort& host, Deadline deadline) override;

 private:
  friend class InboxListener;
  friend class InboxStream;

  void arrive(const Arrival& arrival) override;
  void end_turn() override;
  void accept(const Connected& connected);

  Inbox& inbox_;
  std::map<std::uint64_t, InboxListener*> listeners_;
  std::map<std::uint64_t, InboxStream*> streams_;
  // Streams with requests for the end of this turn.
  std::set<std::uint64_t> talking_;
};

}  // namespace corolane::framework::recording
