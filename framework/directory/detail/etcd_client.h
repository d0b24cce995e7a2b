// SPDX-License-Identifier: MIT
// Sends requests to an etcd over HTTP, to any member that answers, with a token when etcd requires
// authentication.
//
// After a failure of a member the next one is used. The request is retried there when it was
// certainly not executed or is idempotent.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/directory/detail/etcd_login.h"
#include "framework/directory/etcd_directory.h"
#include "net/http/http.h"
#include "net/http/http_lines.h"
#include "net/network.h"

namespace corolane::framework::detail {

struct EtcdRequest {
  std::string_view path;  // "/v3/kv/txn".
  std::string body;
  bool is_repeatable = true;
};

class EtcdClient {
 public:
  using Options = EtcdDirectory::Options;

  // `network` and `options` outlive it.
  EtcdClient(net::Network& network, const Options& options);
  ~EtcdClient();

  // Returns the body of a successful answer. Suspends until the deadline, or for
  // `request_time_max`, which fails with unavailable.
  Result<std::string> call(const EtcdRequest& request, Deadline deadline);
  // The same over a connection of its own, for requests that must not wait for others.
  Result<std::string> call_at_once(const EtcdRequest& request, Deadline deadline);
  // The same for a streamed answer. Its first line has been read and reports no failure.
  Result<net::HttpLines> watch(const EtcdRequest& request, Deadline deadline);

 private:
  class Lane;
  struct Connection;

  Result<std::string> call_by(Lane& lane, const EtcdRequest& request, Deadline deadline);
  Result<std::string> exchange(Connection& connection, std::size_t member,
                               const net::HttpRequest& request, Deadline deadline);
  Result<net::HttpLines> open(std::size_t member, const net::HttpRequest& request,
                              Deadline deadline);

  // Calls `attempt` for one member after the other until one answers.
  template <typename T, typename Attempt>
  Result<T> ask_members(const EtcdRequest& request, Deadline deadline, Attempt attempt);
  // Calls `send` with a token, and again with a new one if the token is refused.
  template <typename T, typename Send>
  Result<T> send_with_token(EtcdLogin& login, std::size_t member, const EtcdRequest& request,
                            Deadline deadline, Send send);
  void leave(std::size_t member);

  net::Network& network_;
  const Options& options_;
  const net::HttpOptions limits_;
  std::size_t member_ = 0;  // Index of the endpoint in use.
  const std::unique_ptr<Lane> calls_;
  const std::unique_ptr<Lane> calls_at_once_;
};

}  // namespace corolane::framework::detail
