// Asks an etcd over HTTP: whichever of its members answers, with a token when it wants to know who
// asks.
//
// A member that cannot be reached, or has no answer, is left for the next one. The request goes
// there, too, when it was surely not executed or does no harm when it is executed twice.
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

  // The body of an answer that tells of no failure. Suspends until the deadline, or for
  // `request_time_max`, which is unavailable.
  Result<std::string> call(const EtcdRequest& request, Deadline deadline);
  // The same for what must not wait for others of the other kind.
  Result<std::string> call_at_once(const EtcdRequest& request, Deadline deadline);
  // The same for an answer without an end. Its first line, which tells of no failure, is read.
  Result<net::HttpLines> watch(const EtcdRequest& request, Deadline deadline);

 private:
  class Lane;
  struct Connection;

  Result<std::string> call_by(Lane& lane, const EtcdRequest& request, Deadline deadline);
  Result<std::string> exchange(Connection& connection, std::size_t member,
                               const net::HttpRequest& request, Deadline deadline);
  Result<net::HttpLines> open(std::size_t member, const net::HttpRequest& request,
                              Deadline deadline);

  // Has `attempt` ask one member after the other, until one answers.
  template <typename T, typename Attempt>
  Result<T> ask_members(const EtcdRequest& request, Deadline deadline, Attempt attempt);
  // Has `send` send the request with a token, and again with another one if that is refused.
  template <typename T, typename Send>
  Result<T> send_with_token(EtcdLogin& login, std::size_t member, const EtcdRequest& request,
                            Deadline deadline, Send send);
  void leave(std::size_t member);

  net::Network& network_;
  const Options& options_;
  const net::HttpOptions limits_;
  std::size_t member_ = 0;  // Which of the endpoints is asked.
  const std::unique_ptr<Lane> calls_;
  const std::unique_ptr<Lane> calls_at_once_;
};

}  // namespace corolane::framework::detail
