// SPDX-License-Identifier: MIT
#include "framework/store/detail/redis_client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "framework/store/detail/refusals.h"
#include "net/crypto.h"

namespace corolane::framework::detail {
namespace {

constexpr coroutine::TaskOptions connect_task = {.purpose = coroutine::StackPool::Purpose::control};

std::string name_of(const net::HostPort& endpoint, std::uint32_t database) {
  return "redis " + to_string(net::Endpoint{.address = endpoint.host, .port = endpoint.port}) +
         "/" + std::to_string(database);
}

}  // namespace

bool is_lasting(const Error& error) {
  return error.code() == Code::unauthenticated || error.code() == Code::permission_denied ||
         error.code() == Code::failed_precondition || error.code() == Code::invalid_argument;
}

RedisClient::RedisClient(net::Network& network, RedisStore::Options options, net::HostPort endpoint,
                         Admit admit)
    : Timer([](Timer& timer) { static_cast<RedisClient&>(timer).look_for_life(); }),
      network_(network),
      options_(std::move(options)),
      endpoint_(std::move(endpoint)),
      admit_(std::move(admit)),
      name_(name_of(endpoint_, options_.database)),
      random_(
          static_cast<std::minstd_rand::result_type>(net::seed_or_random(options_.random_seed))),
      replies_(options_.reply_bytes_max),
      disconnected_at_(now()) {}

RedisClient::~RedisClient() {
  tasks_.cancel_and_join();
  check(waiting_count_ == 0 && reader_count_ == 0,
        "no task is inside a call when its store is destroyed");
}

Result<RedisReply> RedisClient::call(std::span<const std::string_view> words, Deadline deadline) {
  return call(redis_command(words), 1, deadline);
}

Result<RedisReply> RedisClient::call_asking(std::span<const std::string_view> words,
                                            Deadline deadline) {
  constexpr std::array<std::string_view, 1> asking = {"ASKING"};
  return call(redis_command(asking) + redis_command(words), 2, deadline);
}

Result<RedisReply> RedisClient::call(const std::string& commands, std::size_t count,
                                     Deadline deadline) {
  if (auto may = check_may_begin(deadline); !may) return std::move(may.error());
  if (calls_.size() + waiting_count_ >= options_.pending_count_max) {
    return Error(Code::resource_exhausted, name_ + ": " +
                                               std::to_string(calls_.size() + waiting_count_) +
                                               " calls are pending already")
        .with_retry_after(busy_delay);
  }
  if (auto connected = wait_until_connected(deadline); !connected) {
    return std::move(connected.error());
  }
  auto reply = exchange(commands, count, deadline);
  if (!reply) return std::move(reply.error()).with_context(name_);
  return reply;
}

Result<RedisReply> RedisClient::exchange(const std::string& commands, std::size_t count,
                                         Deadline deadline) {
  if (stream_ == nullptr) return *lost_;
  if (auto sent = stream_->try_write(net::bytes_of(commands)); !sent) {
    const bool is_busy = sent.error().code() == Code::resource_exhausted;
    return is_busy ? std::move(sent.error()).with_retry_after(busy_delay) : sent.error();
  }
  if (calls_.empty()) {
    heard_at_ = now();
    coroutine::Scheduler::current().timers().arm(*this,
                                                 Deadline::at(heard_at_ + options_.silence_max));
  }
  for (std::size_t before = 1; before < count; ++before) {
    static_cast<void>(calls_.emplace_back().get_future("redis reply"));
  }
  auto reply = calls_.emplace_back().get_future("redis reply");
  ++reader_count_;
  auto waited = reply.wait(deadline);
  --reader_count_;
  // A reply that came between the deadline and our turn counts.
  if (reply.is_ready()) return reply.get(Deadline::passed());
  return std::move(waited.error()).with_maybe_executed();
}

// --- Replies ----------------------------------------------------------------------------------

void RedisClient::on_bytes(std::span<const std::byte> bytes) {
  heard_at_ = coroutine::Scheduler::current().turn_time();
  if (auto fed = replies_.feed(bytes); !fed) return lose(fed.error());
  while (stream_ != nullptr) {
    auto reply = replies_.next();
    if (!reply) return lose(reply.error());
    if (!*reply) return;
    answer(**std::move(reply));
  }
}

void RedisClient::answer(RedisReply reply) {
  if (calls_.empty()) {
    const bool is_error = reply.kind == RedisReply::Kind::error;
    return lose(is_error ? redis_error(reply.text)
                         : Error(Code::unavailable, "it sent a reply without a request"));
  }
  // A demoted master stays a replica: a new connection may reach the new master.
  const bool was_demoted =
      reply.kind == RedisReply::Kind::error && reply.text.starts_with("READONLY");
  calls_.front().set_value(std::move(reply));
  calls_.pop_front();
  if (calls_.empty()) Timer::cancel();
  if (was_demoted) lose(Error(Code::unavailable, "it has become a replica"));
}

void RedisClient::look_for_life() {
  const Deadline end = Deadline::at(heard_at_ + options_.silence_max);
  if (!end.has_passed()) {
    coroutine::Scheduler::current().timers().arm(*this, end);
  } else {
    lose(Error(Code::unavailable,
               "no answer in " + std::to_string(options_.silence_max.count()) + " ms"));
  }
}

void RedisClient::lose(const Error& reason) {
  if (stream_ == nullptr) return;
  Timer::cancel();
  stream_->close();
  lost_stream_ = std::move(stream_);
  lost_ = reason;
  if (std::exchange(is_ready_, false)) disconnected_at_ = now();
  auto lost = std::exchange(calls_, {});
  for (coroutine::Promise<RedisReply>& call : lost) {
    // The command was sent, or is being sent.
    call.set_error(Error(Code::unavailable, reason.message()).with_maybe_executed());
  }
  // Reconnects at once, so the next call may find a connection.
  start_connecting();
}

// --- Connecting -------------------------------------------------------------------------------

Result<void> RedisClient::wait_until_connected(Deadline deadline) {
  while (!is_connected()) {
    start_connecting();
    if (is_hopeless()) return unreachable();
    const Deadline hope = Deadline::at(disconnected_at_ + options_.unreachable_after);
    ++waiting_count_;
    auto waited = waiting_.wait(earlier(deadline, hope));
    --waiting_count_;
    if (waited || (waited.error().code() == Code::deadline_exceeded && !deadline.has_passed())) {
      continue;
    }
    return std::move(waited.error()).with_context("no connection to " + name_);
  }
  return {};
}

bool RedisClient::is_hopeless() const {
  return (last_failure_ && is_lasting(*last_failure_)) ||
         now() - disconnected_at_ >= options_.unreachable_after;
}

Error RedisClient::unreachable() const {
  Error reason = last_failure_ ? *last_failure_ : Error(Code::unavailable, "no answer so far");
  // The codes of an attempt to connect would mislead the caller.
  if (!is_lasting(reason)) reason = Error(Code::unavailable, reason.message());
  const auto until_next = std::chrono::ceil<std::chrono::milliseconds>(next_attempt_at_ - now());
  return std::move(reason)
      .with_context("no connection to " + name_)
      .with_retry_after(std::max(until_next, std::chrono::milliseconds(1)));
}

void RedisClient::start_connecting() {
  if (is_connecting_ || now() < next_attempt_at_) return;
  is_connecting_ = true;
  // Counts from now: no call has waited since the connection was lost.
  if (!last_failure_) disconnected_at_ = now();
  auto spawned = tasks_.spawn("redis connect", [this] { keep_connecting(); }, connect_task);
  if (spawned) return;
  is_connecting_ = false;
  last_failure_ = std::move(spawned.error());
}

// Runs until there is a connection, or until the server counts as unreachable; then the next
// attempt is made by a call.
void RedisClient::keep_connecting() {
  // Limits the rate of connections that are lost as soon as they are made.
  const Deadline start = Deadline::at(connected_at_ + options_.reconnect_delay_min);
  for (bool goes_on = coroutine::sleep_until(start).has_value(); goes_on;) {
    auto connected = connect_once();
    if (connected) break;
    last_failure_ = std::move(connected.error());
    ++failed_count_;
    const Duration delay = delay_before_next_attempt();
    next_attempt_at_ = now() + delay;
    waiting_.pulse();
    goes_on = !is_hopeless() && coroutine::sleep_for(delay);
  }
  is_connecting_ = false;
}

Result<void> RedisClient::connect_once() {
  const Deadline deadline = Deadline::after(options_.connect_time_max);
  auto stream = net::connect_to(network_, endpoint_, deadline,
                                {.output_bytes_max = options_.output_bytes_max});
  if (!stream) return std::move(stream.error());
  // The former connection is broken, but its end may not have been reported yet.
  lose(Error(Code::unavailable, "lost the connection"));
  lost_stream_.reset();
  stream_ = *std::move(stream);
  replies_ = RedisReplyReader(options_.reply_bytes_max);
  stream_->set_read_sink(*this);
  if (auto greeted = greet(deadline); !greeted) {
    lose(greeted.error());
    return greeted;
  }
  is_ready_ = true;
  connected_at_ = now();
  failed_count_ = 0;
  last_failure_.reset();
  next_attempt_at_ = TimePoint::min();
  waiting_.pulse();
  return {};
}

// Authenticates; suspends until the server is ready to serve.
Result<void> RedisClient::greet(Deadline deadline) {
  std::vector<std::vector<std::string_view>> commands;
  if (!options_.user.empty()) {
    commands.push_back({"AUTH", options_.user, options_.password});
  } else if (!options_.password.empty()) {
    commands.push_back({"AUTH", options_.password});
  }
  const std::string database = std::to_string(options_.database);
  if (options_.database != 0) commands.push_back({"SELECT", database});
  // The first question of admit() tells as much.
  if (!admit_) commands.push_back({"PING"});
  for (const auto& words : commands) {
    if (auto introduced = introduce(words, deadline); !introduced) return introduced;
  }
  if (admit_) {
    auto admitted = admit_(
        [&](std::span<const std::string_view> words) {
          return exchange(redis_command(words), 1, deadline);
        },
        deadline);
    if (!admitted) return admitted;
  }
  // The connection may have been lost after the last reply.
  if (stream_ == nullptr) return *lost_;
  return {};
}

Result<void> RedisClient::introduce(std::span<const std::string_view> words, Deadline deadline) {
  auto reply = exchange(redis_command(words), 1, deadline);
  if (!reply) return std::move(reply.error());
  if (reply->kind == RedisReply::Kind::error) return redis_error(reply->text);
  if (reply->kind == RedisReply::Kind::text) return {};
  return Error(Code::unavailable, "it does not answer as a Redis does");
}

Duration RedisClient::delay_before_next_attempt() {
  constexpr int doublings_max = 20;
  const Duration range = std::min<Duration>(
      options_.reconnect_delay_max,
      options_.reconnect_delay_min * (1 << std::min(failed_count_ - 1, doublings_max)));
  std::uniform_int_distribution<Duration::rep> half(0, (range / 2).count());
  return range / 2 + Duration(half(random_));
}

}  // namespace corolane::framework::detail
