// SPDX-License-Identifier: MIT
// A program's way into a cluster from outside: the calls of services and objects, streams, and what
// it is pushed, through any of several servers.
//
//   ClusterClient cluster(network, {{"10.0.0.5", 8460}, {"10.0.0.6", 8460}},
//                         {.connection = {.token = log_in}});
//   LobbyClient lobby(cluster);  // A service.
//   auto entered = lobby.enter(request);
//   if (!entered) return entered.error();
//   auto news = cluster.follow<RoomEvent>(entered->group());
//   RoomClient room(cluster, request.room());  // An object.
//   auto said = room.say(words);
//   for (auto event = news.next(deadline); event; event = news.next(deadline)) show(*event);
//
// It has one connection at a time, to a server drawn at random. When that server drains, breaks or
// falls silent, the client connects to the next one, and its session comes along with all that it
// was pushed meanwhile: calls and readers of pushes go on.
//
// Each call of an object has a request id, so it is repeated after any failure of the runtime until
// its deadline, and takes effect once. A call of a service is repeated when it has certainly not
// been executed, or is idempotent (rpc/client/client.h).
//
// A client is of one user: a call that is repeated after another login would become that user's.
//
// Any number of tasks use it at the same time. It belongs to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "framework/client/call_observer.h"
#include "framework/client/detail/push_inbox.h"
#include "framework/client/pushes.h"
#include "framework/cluster/ownership.h"
#include "framework/routing/router.h"
#include "net/network.h"
#include "rpc/client/client.h"

namespace corolane::framework {

class ClusterClient final : public Router {
 public:
  struct Options {
    // Its login, bounds, filters and signs of life. `pushes` may be set beside the readers, and
    // sees everything first.
    rpc::Client::Options connection = {};
    // Whether it keeps a session, over which it is pushed to. With one it connects at once when it
    // has lost its connection, for as long as it takes.
    bool keeps_session = true;
    // The limit of a call of an object without a deadline of its own. A call with a request id is
    // never repeated for longer than RequestId::retry_time_max, since objects forget.
    Duration patience = std::chrono::seconds(60);
    Duration retry_delay_min = std::chrono::milliseconds(5);  // Doubled each time.
    Duration retry_delay_max = std::chrono::milliseconds(100);
    // A server through which a call of an object has failed with unavailable for so long is left
    // for the next one; by that call again after twice the time, and so on.
    Duration failing_time_max = std::chrono::seconds(2);
    // Without request ids, a call that may have been executed is repeated only when its method is
    // idempotent or read_only.
    bool has_request_ids = true;
    // Names it in request ids and records; at most 32 bytes. All its calls are told from those of
    // other clients anyhow, so the name matters to readers only.
    std::string caller = "client";
    // Sees each call of an object that is neither one-way nor replies with a stream; outlives the
    // client.
    CallObserver* observer = nullptr;
    Fence::Clock clock = boot_time;  // For the records: the same clock in all processes.
  };

  // Connects on the first call, or by wait_until_connected(). `network` outlives the client. There
  // is at least one server.
  ClusterClient(net::Network& network, std::vector<net::HostPort> servers)
      : ClusterClient(network, std::move(servers), Options{}) {}
  ClusterClient(net::Network& network, std::vector<net::HostPort> servers, Options options);
  // Closes, and suspends until its own task has ended. No task may be inside a call, which is
  // checked: close() and join the callers first.
  ~ClusterClient() { close(); }

  // Clients of services are made from it: ChessClient(cluster).
  operator rpc::Client&() { return client_; }  // NOLINT(google-explicit-constructor)

  // Reads the messages of that type that the session is pushed from now on. Never suspends.
  template <typename T>
  Pushes<T> pushes() {
    return Pushes<T>(inbox_.pushes(rpc::Push::type_of(T::default_instance())));
  }
  // Reads the news of a group that a reply has named (framework/edge/follow.h). Never suspends. A
  // number is one of the present session, so follow before the task that has the reply suspends
  // again. One that a former server names after another session has begun is of no use: its reader
  // may wait for nothing, or get the news of another group. News that come before a group has a
  // reader are kept: 256 messages, or a mebibyte, of all such groups together. The group is left
  // when its reader is destroyed.
  template <typename T>
  Pushes<T> follow(std::uint32_t group) {
    return Pushes<T>(inbox_.follow(group, rpc::Push::type_of(T::default_instance())));
  }

  // Suspends until there is a connection. Fails as rpc::Client::connect() does.
  Result<void> wait_until_connected(Deadline deadline) {
    return client_.wait_until_connected(deadline);
  }
  bool is_connected() const { return client_.is_connected(); }
  rpc::Client::Statistics statistics() const { return client_.statistics(); }
  // Ends all pending and all later calls, and all readers of pushes, with unavailable. Never
  // suspends.
  void close();

  // The calls of typed clients of objects. All suspend, and fail as Router says.
  Result<void> call(const rpc::Method& method, const std::string& id,
                    const google::protobuf::Message& request, google::protobuf::Message& reply,
                    const rpc::CallOptions& options) override;
  // Repeated only when nothing has arrived and the object has not been called.
  Result<void> stream(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request, rpc::Messages& sink,
                      const rpc::CallOptions& options) override;
  // Never repeated.
  Result<void> notify(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request,
                      const rpc::CallOptions& options) override;

 private:
  class RequestName;
  struct Call;
  using Attempt = std::function<Result<void>()>;

  Deadline deadline_of(const rpc::CallOptions& options) const;
  Result<void> call_until_final(const Call& call, std::vector<Code>& errors,
                                const Attempt& attempt);
  // Whether the call may be made again after an attempt that has failed so.
  bool may_repeat(const Call& call, const Error& error) const;

  const Options options_;
  const bool has_several_servers_;
  const std::string caller_;  // On the wire.
  coroutine::Event closed_{"the end of a client"};
  // An object remembers the last call of each caller only. So calls that overlap have callers of
  // their own, as few as possible.
  std::vector<std::string> free_callers_;
  std::size_t caller_count_ = 0;
  std::uint64_t last_sequence_ = 0;
  detail::PushInbox inbox_;
  rpc::Client client_;
};

}  // namespace corolane::framework
