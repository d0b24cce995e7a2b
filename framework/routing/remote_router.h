// SPDX-License-Identifier: MIT
// Calls objects from outside the cluster, through any of its nodes, for one caller that makes one
// call at a time, beside any number of streams. Typed clients of objects (GameClient) use it as
// they use the router of a node.
//
//   RemoteRouter router(network, {{"10.0.0.5", 8460}, {"10.0.0.6", 8460}}, observer,
//                       {.caller = "bot-17"});
//   auto added = CounterClient(router, "visits").add(request);
//
// Each call has a request id, so it may be retried after any failure. When a node is gone, is
// stopping or does not answer, the next one is tried.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "framework/cluster/ownership.h"
#include "framework/routing/router.h"
#include "net/crypto.h"
#include "net/network.h"
#include "rpc/client/client.h"

namespace corolane::framework {

// A call and its outcome. Refers to texts: valid during the call.
struct CallRecord {
  const rpc::Method* method;
  std::string_view object;
  std::string_view caller;
  std::uint64_t sequence = 0;  // 0: it had no request id.
  TimePoint begin;
  TimePoint end;
  std::vector<Code> errors;  // The errors after which it was retried.
  std::optional<Code> failure = {};
};

// Observes every call.
class CallObserver {
 public:
  // `reply` is meaningless after a failure.
  virtual void on_call(const CallRecord& record, const google::protobuf::Message& request,
                       const google::protobuf::Message& reply) = 0;

 protected:
  ~CallObserver() = default;
};

class RemoteRouter final : public Router {
 public:
  struct Options {
    std::string caller;     // For the records; unique to this router.
    std::size_t first = 0;  // The index of the server that it asks first.
    // A node from which nothing arrives for this long, although it is pinged meanwhile, is given
    // up. One that answers pings has as long for each attempt as the method has.
    std::chrono::milliseconds silence_time_max{1'000};
    Duration connect_time_max = std::chrono::milliseconds(500);
    Duration retry_delay_min = std::chrono::milliseconds(5);  // Doubled each time.
    Duration retry_delay_max = std::chrono::milliseconds(100);
    // The limit of a call without a deadline of its own. A call with a request id is never retried
    // for longer than RequestId::retry_time_max, since objects forget.
    Duration patience = std::chrono::seconds(60);
    Fence::Clock clock = boot_time;  // For the records: the same clock in all processes.
    // Without request ids, a call that may have been executed is retried only when its method is
    // idempotent or read_only.
    bool has_request_ids = true;
  };

  // All references outlive the router. There is at least one server.
  RemoteRouter(net::Network& network, const std::vector<net::HostPort>& servers,
               CallObserver& observer, Options options)
      : network_(network), servers_(servers), observer_(observer), options_(std::move(options)) {}

  Result<void> call(const rpc::Method& method, const std::string& id,
                    const google::protobuf::Message& request, google::protobuf::Message& reply,
                    const rpc::CallOptions& options) override;
  // Not observed. Retried only when nothing has arrived and the object has not been called.
  Result<void> stream(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request, rpc::Messages& sink,
                      const rpc::CallOptions& options) override;
  // Always fails: the outcome of a one-way call could not be observed.
  Result<void> notify(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request,
                      const rpc::CallOptions& options) override;

 private:
  struct Call {
    const rpc::Method& method;
    const std::string& id;
    const google::protobuf::Message& request;
    std::uint64_t sequence;
    Deadline deadline;
  };
  // One attempt, by a connected client.
  using Attempt = std::function<Result<void>(rpc::Client& client)>;

  Deadline deadline_of(const rpc::CallOptions& options) const;
  Result<void> call_until_final(const Call& call, std::vector<Code>& errors,
                                const Attempt& attempt);
  Result<void> try_call(rpc::Client& client, const Call& call, google::protobuf::Message& reply,
                        std::vector<Code>& errors);
  Result<std::shared_ptr<rpc::Client>> connect(Deadline deadline);

  net::Network& network_;
  const std::vector<net::HostPort>& servers_;
  CallObserver& observer_;
  const Options options_;
  // rpc::Client::Options::requester, sent to all servers. It makes the request ids unique to this
  // router.
  const std::string requester_ = net::random_text(16);
  std::size_t moved_count_ = 0;  // The number of moves to the next server.
  std::uint64_t last_sequence_ = 0;
  // Connected to the current server; null: not yet. Calls keep it while they use it.
  std::shared_ptr<rpc::Client> client_;
};

}  // namespace corolane::framework
