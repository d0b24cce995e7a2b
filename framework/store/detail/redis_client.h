// A connection to a Redis, made anew whenever it is lost: commands go out, replies find their calls
// by their order.
//
// Bytes come by push, so that waiting costs no task. Belongs to one scheduler's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/task_group.h"
#include "coroutine/timer_wheel.h"
#include "coroutine/wait_queue.h"
#include "framework/store/detail/redis_protocol.h"
#include "framework/store/redis_store.h"
#include "net/network.h"

namespace corolane::framework::detail {

class RedisClient final : private net::ReadSink, private coroutine::Timer {
 public:
  // `network` outlives it. Connects with the first call.
  RedisClient(net::Network& network, RedisStore::Options options);
  // No task is inside of a call. Suspends until its own task has ended.
  ~RedisClient();
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;

  // Suspends until the reply is there, which may be an error of the server. Fails with unavailable,
  // or with what the server says to who connects, resource_exhausted when too much is under way,
  // deadline_exceeded or cancelled; with maybe_executed once the command was sent.
  Result<RedisReply> call(std::span<const std::string_view> words, Deadline deadline);

  // "redis 10.0.0.5:6379/0".
  const std::string& name() const { return name_; }

 private:
  // Lives with its task, which waits for the reply.
  struct Call {
    std::optional<Result<RedisReply>> reply;
    coroutine::WaitQueue replied{"redis reply"};
  };

  // One command on the connection that there is.
  Result<RedisReply> exchange(std::span<const std::string_view> words, Deadline deadline);

  // The connection.
  bool is_connected() const { return is_ready_ && !stream_->is_closed(); }
  Result<void> wait_until_connected(Deadline deadline);
  void start_connecting();
  void keep_connecting();
  Result<void> connect_once();
  Result<void> greet(Deadline deadline);
  bool is_hopeless() const;
  Error unreachable() const;
  Duration delay_before_next_attempt();

  // What comes on it; on the loop's stack.
  void on_bytes(std::span<const std::byte> bytes) override;
  void on_end(const Error& reason) override { lose(reason); }
  void answer(RedisReply reply);
  void look_for_life();
  // Ends it with all calls that are under way.
  void lose(const Error& reason);

  net::Network& network_;
  const RedisStore::Options options_;
  const std::string name_;
  std::minstd_rand random_;

  std::unique_ptr<net::Stream> stream_;
  std::unique_ptr<net::Stream> lost_stream_;  // The one before: a sink may not destroy its stream.
  std::optional<Error> lost_;                 // Why that one has ended.
  RedisReplyReader replies_;
  bool is_ready_ = false;  // The server has let us in.
  // Under way, the oldest first; null when the task has given up.
  std::deque<Call*> calls_;
  std::uint64_t answered_count_ = 0;  // Before the first of calls_, over all connections.
  TimePoint heard_at_;

  coroutine::WaitQueue waiting_{"redis connection"};
  std::size_t waiting_count_ = 0;
  bool is_connecting_ = false;
  int failed_count_ = 0;               // Attempts to connect, in a row,
  std::optional<Error> last_failure_;  // and how the last of them failed.
  TimePoint connected_at_ = TimePoint::min();
  TimePoint disconnected_at_;
  TimePoint next_attempt_at_ = TimePoint::min();
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::detail
