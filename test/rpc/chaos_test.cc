// SPDX-License-Identifier: MIT
// The guarantees for callers while the network between them and the server misbehaves.
//
// Each seed is a run: clients call through a ChaosProxy, everything that happens is written into a
// History, and the network heals at last. Then the properties are checked, each a function of the
// history alone: a new guarantee of rpc is one more property.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/task_group.h"
#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"
#include "net/testing/chaos_proxy.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/executions.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

constexpr Code code_of_the_handler = Code::data_loss;  // The runtime itself never uses it.

// One call, from its caller's side.
struct CallRecord {
  std::string payload;      // Unique per call.
  bool idempotent = false;  // May be retried after it was executed.
  Deadline deadline = Deadline::never();
  std::optional<TimePoint> cancelled_at;
  TimePoint ended_at;
  std::optional<std::string> reply;
  std::optional<Error> error;

  // "call 17".
  std::string name() const { return payload.substr(0, payload.find(" :")); }
};

struct History {
  std::vector<CallRecord> calls;        // In the order in which they were made.
  std::vector<std::string> executions;  // Their payloads, as handlers began.
  std::vector<CallRecord> calls_after_healing;
  std::uint64_t retry_count = 0;
  std::uint64_t reconnect_count = 0;
  rpc::Server::Statistics server_at_last;  // After all clients are closed.
  std::string trace;
};

// Records what it executes; each reply names its request.
class LedgerService : public EchoService {
 public:
  explicit LedgerService(std::vector<std::string>& executions) : executions_(executions) {}

  Result<EchoReply> echo(const EchoRequest& request, rpc::Context&) override {
    return execute(request.text());
  }
  Result<EchoReply> sleep(const SleepRequest& request, rpc::Context&) override {
    auto reply = execute(request.text());
    const auto slept = coroutine::sleep_for(std::chrono::milliseconds(request.milliseconds()));
    if (!slept) return slept.error();
    return reply;
  }
  Result<EchoReply> fail(const FailRequest& request, rpc::Context&) override {
    static_cast<void>(execute(request.text()));
    return Error(code_of_the_handler, request.text());
  }

  static std::string reply_to(const std::string& payload) { return "reply to " + payload; }

 private:
  EchoReply execute(const std::string& payload) {
    executions_.push_back(payload);
    EchoReply reply;
    reply.set_text(reply_to(payload));
    return reply;
  }

  std::vector<std::string>& executions_;
};

rpc::Method idempotent_echo() {
  rpc::Method method = echo_method();
  method.idempotent = true;
  return method;
}

class ChaosRun {
 public:
  // Suspends until the run is over.
  static History run(std::uint64_t seed) {
    History history;
    Random random(seed);
    ChaosRun(history, random, seed).run();
    return history;
  }

 private:
  static constexpr std::size_t client_count = 3;
  static constexpr int callers_per_client = 4;
  static constexpr int calls_per_caller = 20;

  ChaosRun(History& history, Random& random, std::uint64_t seed)
      : history_(history),
        random_(random),
        service_(history.executions),
        server_(network_, {.random_seed = seed}),
        proxy_(network_, {.target = {"server", 1},
                          .seed = seed,
                          .plan = ChaosPlan::random(random),
                          .break_off = [this](net::Stream& stream) { network_.reset(stream); }}) {
    check(server_.add(service_).has_value(), "the service can be added");
    check(server_.listen({"server", 1}, {.door = rpc::Door::nodes}).has_value(),
          "the server listens");
    check(proxy_.listen({"proxy", 2}).has_value(), "the proxy listens");
    for (std::size_t index = 0; index < client_count; ++index) {
      clients_.push_back(
          std::make_unique<rpc::Client>(network_, net::HostPort{"proxy", 2}, client_options()));
    }
  }

  rpc::Client::Options client_options() {
    return {.connect_time_max = 200ms,
            .reconnect_delay_max = 100ms,
            .keepalive = {.interval = 100ms, .patience = 100ms},
            .random_seed = random_.any()};
  }

  void run() {
    {
      auto gremlin = coroutine::spawn("gremlin", [this] { strike_now_and_then(); });
      coroutine::TaskGroup callers;
      for (std::size_t index = 0; index < client_count * callers_per_client; ++index) {
        ASSERT_TRUE(callers.spawn("caller", [this, index] { be_a_caller(index % client_count); }));
      }
      ASSERT_TRUE(callers.join(Deadline::never()));
    }
    ASSERT_TRUE(proxy_.heal());
    // Slices that are already delayed stay delayed, so keepalive may close a connection.
    ASSERT_TRUE(coroutine::sleep_for(1s));
    call_after_healing();
    for (const auto& client : clients_) {
      history_.retry_count += client->statistics().retry_count;
      history_.reconnect_count += client->statistics().connect_count - 1;
      client->close();
    }
    // Frames in flight arrive, and handlers whose callers are gone end.
    ASSERT_TRUE(coroutine::sleep_for(1min));
    history_.server_at_last = server_.statistics();
    history_.trace = proxy_.trace().to_text();
  }

  // Faults beyond the plan of a single connection: on all connections at once, and the loss of the
  // listener.
  void strike_now_and_then() {
    constexpr ChaosFault faults[] = {ChaosFault::reset, ChaosFault::close, ChaosFault::half_close,
                                     ChaosFault::drop, ChaosFault::hang};
    while (coroutine::sleep_for(200ms + random_.up_to(1s))) {
      if (random_.one_in(3)) proxy_.inject(faults[random_.below(std::size(faults))]);
      if (random_.one_in(3)) proxy_.resume();
      if (random_.one_in(6)) {
        proxy_.stop_listening();
        static_cast<void>(coroutine::sleep_for(random_.up_to(200ms)));
        check(proxy_.listen_again().has_value(), "the proxy listens again");
      }
    }
  }

  void be_a_caller(std::size_t client) {
    for (int count = 0; count < calls_per_caller; ++count) {
      if (random_.one_in(10)) {
        call_and_cancel(client);
      } else {
        call(client, begin_call());
      }
      if (!coroutine::sleep_for(random_.up_to(50ms))) return;
    }
  }

  // Returns its index in the history.
  std::size_t begin_call() {
    const std::size_t index = history_.calls.size();
    std::string payload = "call " + std::to_string(index) + " :";
    payload.append(random_.one_in(5) ? random_.below(5000) : random_.below(50), 'x');
    history_.calls.push_back({.payload = std::move(payload),
                              .idempotent = random_.one_in(3),
                              .deadline = Deadline::after(1ms + random_.up_to(400ms)),
                              .cancelled_at = {},
                              .ended_at = {},
                              .reply = {},
                              .error = {}});
    return index;
  }

  void call_and_cancel(std::size_t client) {
    std::size_t index = 0;
    auto task = coroutine::spawn("impatient", [&] {
      index = begin_call();
      call(client, index);
    });
    if (task.join(Deadline::after(random_.up_to(50ms)))) return;
    const TimePoint cancelled_at = now();
    task.cancel();
    static_cast<void>(task.join(Deadline::never()));
    history_.calls[index].cancelled_at = cancelled_at;
  }

  void call(std::size_t client, std::size_t index) {
    // The history may grow, and move, meanwhile.
    const CallRecord asked = history_.calls[index];
    const auto reply = ask(*clients_[client], asked);
    CallRecord& record = history_.calls[index];
    record.ended_at = now();
    if (reply) {
      record.reply = reply->text();
    } else {
      record.error = reply.error();
    }
  }

  Result<EchoReply> ask(rpc::Client& client, const CallRecord& call) {
    EchoClient echo(client);
    const rpc::CallOptions options{.deadline = call.deadline};
    if (call.idempotent) {
      EchoReply reply;
      auto called = client.call(idempotent_echo_, make_echo(call.payload), reply, options);
      if (!called) return called.error();
      return reply;
    }
    switch (random_.below(3)) {
      case 0:
        return echo.sleep(make_sleep(std::chrono::milliseconds(random_.below(100)), call.payload),
                          options);
      case 1:
        return echo.fail(make_fail(0, call.payload), options);
      default:
        return echo.echo(make_echo(call.payload), options);
    }
  }

  // Uses the clients that went through the faults.
  void call_after_healing() {
    for (const auto& client : clients_) {
      EXPECT_TRUE(client->wait_until_connected(Deadline::after(2s)));
      CallRecord record{.payload = "after healing",
                        .deadline = Deadline::after(1s),
                        .cancelled_at = {},
                        .ended_at = {},
                        .reply = {},
                        .error = {}};
      const auto reply =
          EchoClient(*client).echo(make_echo(record.payload), {.deadline = record.deadline});
      if (reply) {
        record.reply = reply->text();
      } else {
        record.error = reply.error();
      }
      history_.calls_after_healing.push_back(std::move(record));
    }
    std::erase(history_.executions, "after healing");
  }

  History& history_;
  Random& random_;
  sim::SimulatedNetwork network_;
  LedgerService service_;
  rpc::Server server_;
  ChaosProxy proxy_;
  const rpc::Method idempotent_echo_ = idempotent_echo();
  std::vector<std::unique_ptr<rpc::Client>> clients_;
};

// The properties.

void every_call_ends_by_its_deadline(const History& history) {
  for (const CallRecord& call : history.calls) {
    EXPECT_LE(call.ended_at, call.deadline.time()) << call.name();
    if (call.cancelled_at) {
      EXPECT_EQ(call.ended_at, *call.cancelled_at) << call.name();
    }
  }
}

void replies_come_to_the_calls_that_they_belong_to(const History& history) {
  for (const CallRecord& call : history.calls) {
    if (call.reply) {
      EXPECT_EQ(*call.reply, LedgerService::reply_to(call.payload));
    }
    if (call.error && call.error->code() == code_of_the_handler) {
      EXPECT_EQ(call.error->message(), call.payload);
    }
  }
}

void what_was_answered_was_executed_exactly_once(const History& history) {
  auto counts = counts_of(history.executions);
  for (const CallRecord& call : history.calls) {
    const bool answered = call.reply || call.error->code() == code_of_the_handler;
    if (answered && call.idempotent) {
      EXPECT_GE(counts[call.payload], 1) << call.name();
    } else if (answered) {
      EXPECT_EQ(counts[call.payload], 1) << call.name();
    }
  }
}

void an_error_without_maybe_executed_was_not_executed(const History& history) {
  auto counts = counts_of(history.executions);
  for (const CallRecord& call : history.calls) {
    if (!call.error || call.error->code() == code_of_the_handler) continue;
    if (call.error->maybe_executed()) continue;
    EXPECT_EQ(counts[call.payload], 0) << call.name() << ": " << *call.error;
  }
}

void only_idempotent_calls_are_executed_twice(const History& history) {
  auto counts = counts_of(history.executions);
  for (const CallRecord& call : history.calls) {
    if (!call.idempotent) {
      EXPECT_LE(counts[call.payload], 1) << call.name();
    }
  }
}

void the_same_clients_succeed_after_healing(const History& history) {
  EXPECT_EQ(history.calls_after_healing.size(), 3u);
  for (const CallRecord& call : history.calls_after_healing) {
    EXPECT_EQ(call.reply, LedgerService::reply_to(call.payload)) << *call.error;
  }
}

void the_server_forgets_clients_that_are_gone(const History& history) {
  EXPECT_EQ(history.server_at_last.connection_count, 0u);
  EXPECT_EQ(history.server_at_last.running_count, 0u);
}

constexpr auto properties = {
    every_call_ends_by_its_deadline,
    replies_come_to_the_calls_that_they_belong_to,
    what_was_answered_was_executed_exactly_once,
    an_error_without_maybe_executed_was_not_executed,
    only_idempotent_calls_are_executed_twice,
    the_same_clients_succeed_after_healing,
    the_server_forgets_clients_that_are_gone,
};

// How calls ended, over all seeds: chaos in which no call, or every call, succeeds proves little.
class Outcomes {
 public:
  void add(const History& history) {
    for (const CallRecord& call : history.calls) {
      ++counts_[name_of(call)];
      ++total_;
    }
    ++run_count_;
    retry_count_ += history.retry_count;
    reconnect_count_ += history.reconnect_count;
  }

  void expect_a_good_mix() const {
    for (const char* const name :
         {"answered", "answered by an error of the handler", "deadline_exceeded, maybe executed",
          "cancelled, maybe executed", "deadline_exceeded", "unavailable, maybe executed"}) {
      const auto found = counts_.find(name);
      const int count = found == counts_.end() ? 0 : found->second;
      EXPECT_GT(count, total_ / 200) << name;
      EXPECT_LT(count, total_ / 2) << name;
    }
    EXPECT_GT(retry_count_, run_count_);
    EXPECT_GT(reconnect_count_, 5 * run_count_);
  }

 private:
  static std::string name_of(const CallRecord& call) {
    if (call.reply) return "answered";
    if (call.error->code() == code_of_the_handler) return "answered by an error of the handler";
    const std::string code(to_string(call.error->code()));
    return call.error->maybe_executed() ? code + ", maybe executed" : code;
  }

  std::map<std::string, int> counts_;
  int total_ = 0;
  std::uint64_t run_count_ = 0;
  std::uint64_t retry_count_ = 0;
  std::uint64_t reconnect_count_ = 0;
};

TEST(ChaosTest, GuaranteesHoldInAnyNetwork) {
  Outcomes outcomes;
  const std::uint64_t seed_count = under_slow_watch() ? 20 : 200;
  for (std::uint64_t seed = 1; seed <= seed_count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const History history = ChaosRun::run(seed);
    for (const auto property : properties) property(history);
    outcomes.add(history);
    if (HasFailure()) {
      // Prints only the end of the trace; the whole is longer than a screen.
      ADD_FAILURE() << history.trace.substr(history.trace.size() -
                                            std::min<std::size_t>(history.trace.size(), 4000));
      return;
    }
  }
  outcomes.expect_a_good_mix();
}

}  // namespace
}  // namespace corolane::test
