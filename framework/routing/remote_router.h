// Calls objects from outside of the cluster, by any of its nodes, for one caller who makes one call
// at a time: typed clients of objects (GameClient) take it for the router of a node.
//
// Each call has a request id, so it may be tried again whatever became of it. A node that is gone,
// stops or says nothing is left for the next one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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

// What somebody asked, and what became of it. Refers to texts: valid during the call.
struct CallRecord {
  const rpc::Method* method;
  std::string_view object;
  std::string_view caller;
  std::uint64_t sequence = 0;  // 0: it had no request id.
  TimePoint begin;
  TimePoint end;
  std::vector<Code> errors;  // After which it was tried again.
  std::optional<Code> failure = {};
};

// Is told of every call.
class CallObserver {
 public:
  // `reply` is of no meaning after a failure.
  virtual void on_call(const CallRecord& record, const google::protobuf::Message& request,
                       const google::protobuf::Message& reply) = 0;

 protected:
  ~CallObserver() = default;
};

class RemoteRouter final : public Router {
 public:
  struct Options {
    std::string caller;     // Of the records: no other router has it.
    std::size_t first = 0;  // The place of the server that it asks first.
    // For one attempt: who waits for longer asks again.
    Duration attempt_time_max = std::chrono::milliseconds(500);
    Duration connect_time_max = std::chrono::milliseconds(500);
    Duration retry_delay_min = std::chrono::milliseconds(5);  // Doubled each time.
    Duration retry_delay_max = std::chrono::milliseconds(100);
    // For a call without a deadline of its own. With a request id none is tried for longer than
    // RequestId::retry_time_max, since objects forget.
    Duration patience = std::chrono::seconds(60);
    Fence::Clock clock = boot_time;  // Of the records: one for all processes.
    // Without, what may have been executed is not tried again.
    bool has_request_ids = true;
  };

  // All of them outlive it. Servers: at least one.
  RemoteRouter(net::Network& network, const std::vector<net::HostPort>& servers,
               CallObserver& observer, Options options)
      : network_(network), servers_(servers), observer_(observer), options_(std::move(options)) {}

  Result<void> call(const rpc::Method& method, const std::string& id,
                    const google::protobuf::Message& request, google::protobuf::Message& reply,
                    const rpc::CallOptions& options) override;
  // Nobody could say what became of it.
  Result<void> notify(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request,
                      const rpc::CallOptions& options) override;

 private:
  struct Call {
    const rpc::Method& method;
    const std::string& id;
    const google::protobuf::Message& request;
    google::protobuf::Message& reply;
    std::uint64_t sequence;
    Deadline deadline;
  };

  Deadline deadline_of(const rpc::CallOptions& options) const;
  Result<void> call_until_final(const Call& call, std::vector<Code>& errors);
  Result<void> try_call(const Call& call, std::vector<Code>& errors);
  Result<void> connect(Deadline deadline);

  net::Network& network_;
  const std::vector<net::HostPort>& servers_;
  CallObserver& observer_;
  const Options options_;
  // rpc::Client::Options::requester, said to all servers: its request ids are nobody else's.
  const std::string requester_ = net::random_text(16);
  std::size_t moved_count_ = 0;  // From server to server.
  std::uint64_t last_sequence_ = 0;
  std::unique_ptr<rpc::Client> client_;  // Of the server that it asks now; null: none yet.
};

}  // namespace corolane::framework
