// SPDX-License-Identifier: MIT
// A connection to a Redis, reopened when it is lost. Replies are matched to their calls by order.
//
// Input is pushed by the stream, so no task waits to read. Belongs to one scheduler's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/future.h"
#include "coroutine/task_group.h"
#include "coroutine/timer_wheel.h"
#include "framework/store/detail/redis_protocol.h"
#include "framework/store/redis_store.h"
#include "net/network.h"

namespace corolane::framework::detail {

// Whether a retry is pointless: the server rejects us.
bool is_lasting(const Error& error);

class RedisClient final : private net::ReadSink, private coroutine::Timer {
 public:
  // Sends a command on a new connection; suspends until its reply has arrived.
  using Ask = std::function<Result<RedisReply>(std::span<const std::string_view> words)>;
  // Called for each new connection once it is authenticated, in a task of the client: whether the
  // server is the right one.
  using Admit = std::function<Result<void>(const Ask& ask, Deadline deadline)>;

  // `network` outlives it. Connects at the first call. Without `admit` any Redis is right.
  RedisClient(net::Network& network, RedisStore::Options options, net::HostPort endpoint,
              Admit admit = {});
  // No call may be in progress. Suspends until its own task has ended.
  ~RedisClient();
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;

  // Suspends until the reply has arrived, which may be an error of the server. Fails with
  // unavailable, with the server's error at connecting, with resource_exhausted when too many calls
  // are pending, with deadline_exceeded or cancelled; with maybe_executed once the command was
  // sent.
  Result<RedisReply> call(std::span<const std::string_view> words, Deadline deadline);
  // The same after ASKING, for a member of a cluster that another one has named for this command.
  Result<RedisReply> call_asking(std::span<const std::string_view> words, Deadline deadline);

  // "redis 10.0.0.5:6379/0".
  const std::string& name() const { return name_; }
  const net::HostPort& endpoint() const { return endpoint_; }

 private:
  Result<RedisReply> call(const std::string& commands, std::size_t count, Deadline deadline);
  // Sends `count` commands on the present connection, and waits for the reply to the last one.
  Result<RedisReply> exchange(const std::string& commands, std::size_t count, Deadline deadline);

  // Connecting.
  bool is_connected() const { return is_ready_ && !stream_->is_closed(); }
  Result<void> wait_until_connected(Deadline deadline);
  void start_connecting();
  void keep_connecting();
  Result<void> connect_once();
  Result<void> greet(Deadline deadline);
  Result<void> introduce(std::span<const std::string_view> words, Deadline deadline);
  bool is_hopeless() const;
  Error unreachable() const;
  Duration delay_before_next_attempt();

  // Input, on the loop's stack.
  void on_bytes(std::span<const std::byte> bytes) override;
  void on_end(const Error& reason) override { lose(reason); }
  void answer(RedisReply reply);
  void look_for_life();
  // Ends the connection and all calls in flight.
  void lose(const Error& reason);

  net::Network& network_;
  const RedisStore::Options options_;
  const net::HostPort endpoint_;
  const Admit admit_;
  const std::string name_;
  std::minstd_rand random_;

  std::unique_ptr<net::Stream> stream_;
  std::unique_ptr<net::Stream> lost_stream_;  // The former: a sink must not destroy its stream.
  std::optional<Error> lost_;                 // The reason of its end.
  RedisReplyReader replies_;
  bool is_ready_ = false;  // Authenticated.
  // The replies to come, the oldest call first. One that its task has given up keeps its place.
  std::deque<coroutine::Promise<RedisReply>> calls_;
  std::size_t reader_count_ = 0;  // Tasks that wait for one of them.
  TimePoint heard_at_;

  coroutine::Event waiting_{"redis connection"};
  std::size_t waiting_count_ = 0;
  bool is_connecting_ = false;
  int failed_count_ = 0;               // Failed attempts in a row,
  std::optional<Error> last_failure_;  // and the error of the last one.
  TimePoint connected_at_ = TimePoint::min();
  TimePoint disconnected_at_;
  TimePoint next_attempt_at_ = TimePoint::min();
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::detail
