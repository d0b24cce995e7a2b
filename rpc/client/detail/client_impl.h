// SPDX-License-Identifier: MIT
// The implementation of Client: the current or the next connection, and retries.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "net/graveyard.h"
#include "rpc/client/client.h"
#include "rpc/client/detail/client_connection.h"
#include "rpc/client/detail/retry_budget.h"
#include "rpc/detail/function_ref.h"
#include "rpc/detail/jitter.h"

namespace corolane::rpc {

class Client::Impl final : private detail::ClientConnection::Host {
 public:
  Impl(net::Network& network, std::vector<net::HostPort> peers, Options options);
  ~Impl();

  Result<void> call(const Method& method, const google::protobuf::Message& request,
                    google::protobuf::Message& reply, const CallOptions& options);
  Result<void> notify(const Method& method, const google::protobuf::Message& request,
                      CallOptions options);
  Result<void> wait_until_connected(Deadline deadline);
  void unfollow(std::uint32_t group);
  void leave_server() {
    if (is_connected()) current_->leave();
  }
  void close();

  void see_connection(const std::function<void(const ConnectionView&)>& see) const {
    if (current_ == nullptr) return;
    see({.stream = std::as_const(*current_).stream(),
         .is_open = current_->is_open(),
         .running_count = current_->pending_count(),
         .answered_count = statistics_.call_count});
  }

  bool is_connected() const { return current_ != nullptr && current_->takes_calls(); }
  Statistics statistics() const;

  // Runs the filters around `make`, which makes the call with the given request extension.
  using Make = detail::FunctionRef<Result<void>(const OutgoingCall&, std::string_view extension)>;
  // `reply` is what the filters see of it; null when there is not exactly one.
  Result<void> with_filters(const Method& method, const google::protobuf::Message& request,
                            CallOptions& options, Make make,
                            const google::protobuf::Message* reply = nullptr);

  // A connection to send on. Suspends until there is one, the deadline passes or the server counts
  // as unreachable.
  Result<detail::ClientConnection*> connection(Deadline deadline);

  static Deadline deadline_of(const Method& method, const CallOptions& options);

 private:
  // The outcome of an attempt, and whether there was a connection to send it on.
  struct Attempt {
    Result<void> result;
    bool was_sent = false;
  };
  static Result<void> make_with_extension(OutgoingCall& call, Make make,
                                          const google::protobuf::Message* reply);

  Result<void> call_without_filters(const Method& method, const google::protobuf::Message& request,
                                    google::protobuf::Message& reply, const CallOptions& options);
  Result<void> call_with_filters(const Method& method, const google::protobuf::Message& request,
                                 google::protobuf::Message& reply, CallOptions options);
  // By reference: the sixth argument lies on the stack, and a view that was just put there in two
  // halves is slow to copy as a whole.
  Result<void> call_until_final(const Method& method, const google::protobuf::Message& request,
                                google::protobuf::Message& reply, const CallOptions& options,
                                const std::string_view& extension);
  Attempt try_call(const Method& method, const google::protobuf::Message& request,
                   google::protobuf::Message& reply, ReplyHeaders* reply_headers, Deadline deadline,
                   const std::string_view& extension);
  Result<void> check_may_call(const Method& method, Deadline deadline) const;
  // Suspends until it is time to retry; false when the call must not be retried.
  bool wait_for_retry(const Attempt& attempt, const Method& method, int failed_count,
                      Deadline deadline);

  // Connecting.
  // Unless a task connects already, or failed a moment ago. Fails without a stack: then nobody
  // connects, and the caller does not wait for that.
  Result<void> start_connecting();
  void keep_connecting();
  Result<void> connect_once();
  bool is_hopeless() const;
  Error unreachable() const;
  void opened(detail::ClientConnection& connection) override;
  void ended(detail::ClientConnection& connection, const Error* reason) override;
  void over(detail::ClientConnection& connection) override;
  void pushed(detail::ClientConnection& connection, const Frame& frame) override;

  void push_news(const Frame& frame);
  bool has_received_kept(std::string_view extension);

  const std::string& peer_name() const { return peer_names_[peer_]; }
  void try_next_peer() { peer_ = (peer_ + 1) % peers_.size(); }
  Duration delay_after(Duration first, Duration longest, int failed_count);

  net::Network& network_;
  // At least one; those who connect try one after the other.
  const std::vector<net::HostPort> peers_;
  const std::vector<std::string> peer_names_;
  std::size_t peer_ = 0;  // The one in use.
  const Options options_;
  Statistics statistics_;
  detail::Jitter jitter_;
  detail::RetryBudget retries_;
  std::size_t task_count_ = 0;  // Tasks inside calls.
  std::optional<Error> closed_;

  const std::string requester_;
  std::string session_;  // Its secret; empty before the first connection, and without a session.
  std::uint64_t received_push_ = 0;
  // The last push that was kept for us in a mailbox, over all sessions.
  std::uint64_t mailbox_ = 0;
  std::uint64_t received_kept_ = 0;
  std::unordered_set<std::uint32_t> unfollowed_;  // Groups that the server has not ended yet.
  std::unique_ptr<detail::ClientConnection> current_;
  // Connections that take no new calls, but have tasks inside or are not lost yet.
  std::vector<std::unique_ptr<detail::ClientConnection>> old_;
  net::Graveyard<detail::ClientConnection> over_;
  coroutine::Event waiting_{"rpc connection"};
  std::size_t waiting_count_ = 0;
  coroutine::Event handshake_ended_{"rpc hello"};
  bool is_connecting_ = false;
  int failed_count_ = 0;                    // Attempts to connect, in a row,
  std::uint64_t failed_attempt_count_ = 0;  // and in all.
  std::optional<Error> last_failure_;
  bool is_refused_ = false;  // By an error that an early retry will not fix.
  TimePoint disconnected_at_;
  TimePoint next_attempt_at_ = TimePoint::min();
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::rpc
