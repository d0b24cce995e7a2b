// SPDX-License-Identifier: MIT
// The guarantees for callers, readers of streams and senders of one-way messages while the network
// misbehaves and the server restarts again and again.
//
// Each seed is a run that writes a History, as in chaos_test.cc, and each promise is a function of
// the history.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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

enum class Kind : std::uint8_t { unary, one_way, stream };

struct CallRecord {
  Kind kind = Kind::unary;
  std::string payload;  // Unique per call; for a stream, the requested number of items.
  Deadline deadline = Deadline::never();
  TimePoint ended_at{};
  std::optional<Error> error{};
  std::vector<std::uint32_t> items{};  // The items of a stream, in the order of reading.
};

struct History {
  std::vector<CallRecord> calls;
  std::vector<std::string> executions;  // Payloads of unary and one-way calls, as handlers began.
  std::vector<rpc::Server::Statistics> stopped_servers;
  int drained_count = 0;  // Stops in which no handler had to be cancelled.
  bool works_at_last = false;
};

class LedgerService : public EchoService {
 public:
  explicit LedgerService(History& history) : history_(history) {}

  Result<EchoReply> sleep(const SleepRequest& request, rpc::Context&) override {
    history_.executions.push_back(request.text());
    const auto slept = coroutine::sleep_for(std::chrono::milliseconds(request.milliseconds()));
    if (!slept) return slept.error();
    EchoReply reply;
    reply.set_text(request.text());
    return reply;
  }
  Result<void> note(const EchoRequest& request, rpc::Context&) override {
    history_.executions.push_back(request.text());
    return {};
  }
  // Allows several streams at a time, unlike the base class.
  Result<void> count(const CountRequest& request, rpc::Writer<CountReply>& out,
                     rpc::Context&) override {
    CountReply reply;
    reply.set_text(std::string(request.size(), 'x'));
    for (std::uint32_t number = 0; number < request.count(); ++number) {
      reply.set_number(number);
      if (auto written = out.write(reply); !written) return written;
      auto slept = coroutine::sleep_for(std::chrono::milliseconds(request.milliseconds()));
      if (!slept) return slept;
    }
    return {};
  }

 private:
  History& history_;
};

class ChaosRun {
 public:
  // Suspends until the run is over.
  static History run(std::uint64_t seed) {
    History history;
    ChaosRun(history, seed).run();
    return history;
  }

 private:
  static constexpr int caller_count = 8;
  static constexpr int calls_per_caller = 12;

  ChaosRun(History& history, std::uint64_t seed)
      : history_(history),
        random_(seed),
        seed_(seed),
        service_(history),
        proxy_(network_, {.target = {"server", 1},
                          .seed = seed,
                          .plan = ChaosPlan::random(random_),
                          .break_off = [this](net::Stream& stream) { network_.reset(stream); }}),
        client_(network_, {"proxy", 2},
                {.connect_time_max = 200ms,
                 .reconnect_delay_max = 100ms,
                 .keepalive = {.interval = 100ms, .patience = 100ms},
                 .random_seed = random_.any()}) {
    start_server();
    check(proxy_.listen({"proxy", 2}).has_value(), "the proxy listens");
  }

  void run() {
    {
      auto restarts = coroutine::spawn("operator", [this] { restart_now_and_then(); });
      coroutine::TaskGroup callers;
      for (int index = 0; index < caller_count; ++index) {
        ASSERT_TRUE(callers.spawn("caller", [this] { be_a_caller(); }));
      }
      ASSERT_TRUE(callers.join(Deadline::never()));
    }
    if (server_ == nullptr) start_server();
    ASSERT_TRUE(proxy_.heal());
    ASSERT_TRUE(coroutine::sleep_for(5s));
    history_.works_at_last =
        EchoClient(client_).echo(make_echo(""), {.deadline = Deadline::after(2s)}).has_value();
    client_.close();
    stop_server();
  }

  void start_server() {
    server_ = std::make_unique<rpc::Server>(
        network_, rpc::Server::Options{.leave_time_max = 100ms, .random_seed = seed_});
    check(server_->add(service_).has_value(), "the service can be added");
    check(server_->listen({"server", 1}, {.door = rpc::Door::nodes}).has_value(),
          "the server listens");
  }

  void stop_server() {
    const auto stopped = server_->stop(Deadline::after(200ms));
    if (stopped) ++history_.drained_count;
    history_.stopped_servers.push_back(server_->statistics());
    server_.reset();
  }

  void restart_now_and_then() {
    while (coroutine::sleep_for(100ms + random_.up_to(500ms))) {
      if (random_.one_in(4)) proxy_.inject(ChaosFault::reset);
      stop_server();
      // Starts a server again even when cancelled.
      static_cast<void>(coroutine::sleep_for(random_.up_to(50ms)));
      start_server();
    }
  }

  void be_a_caller() {
    for (int count = 0; count < calls_per_caller; ++count) {
      const std::size_t index = history_.calls.size();
      const auto kind = static_cast<Kind>(random_.below(3));
      history_.calls.push_back({.kind = kind,
                                .payload = kind == Kind::stream ? std::to_string(random_.below(60))
                                                                : "call " + std::to_string(index),
                                .deadline = Deadline::after(20ms + random_.up_to(600ms))});
      // The history may grow, and move, meanwhile.
      CallRecord record = history_.calls[index];
      const auto result = make(record);
      record.ended_at = now();
      if (!result) record.error = result.error();
      history_.calls[index] = std::move(record);
      if (!coroutine::sleep_for(random_.up_to(50ms))) return;
    }
  }

  Result<void> make(CallRecord& call) {
    EchoClient echo(client_);
    const rpc::CallOptions options{.deadline = call.deadline};
    if (call.kind == Kind::one_way) return echo.note(make_echo(call.payload), options);
    if (call.kind == Kind::stream) return read_stream(echo, call, options);
    const auto reply =
        echo.sleep(make_sleep(std::chrono::milliseconds(random_.below(50)), call.payload), options);
    if (!reply) return reply.error();
    EXPECT_EQ(reply->text(), call.payload);
    return {};
  }

  Result<void> read_stream(EchoClient& echo, CallRecord& call, const rpc::CallOptions& options) {
    CountRequest request;
    request.set_count(static_cast<std::uint32_t>(std::stoul(call.payload)));
    request.set_size(static_cast<std::uint32_t>(random_.below(1000)));
    request.set_milliseconds(random_.below(5));
    auto numbers = echo.count(request, options);
    for (CountReply reply; numbers.read(reply);) {
      call.items.push_back(reply.number());
      EXPECT_EQ(reply.text().size(), request.size());
      // Received items are read to the end even after the deadline.
      if (random_.one_in(20) && !call.deadline.has_passed())
        static_cast<void>(coroutine::sleep_for(random_.up_to(20ms)));
    }
    return numbers.finish();
  }

  History& history_;
  Random random_;
  const std::uint64_t seed_;
  sim::SimulatedNetwork network_;
  LedgerService service_;
  std::unique_ptr<rpc::Server> server_;
  ChaosProxy proxy_;
  rpc::Client client_;
};

// The promises.

void every_call_ends_by_its_deadline(const History& history) {
  for (const CallRecord& call : history.calls) {
    // A reader may be asleep between two items as the deadline passes.
    const Duration patience = call.kind == Kind::stream ? 20ms : 0ms;
    EXPECT_LE(call.ended_at, call.deadline.time() + patience) << call.payload;
  }
}

void answered_calls_were_executed_once_and_no_call_twice(const History& history) {
  auto counts = counts_of(history.executions);
  for (const CallRecord& call : history.calls) {
    if (call.kind == Kind::stream) continue;
    EXPECT_LE(counts[call.payload], 1) << call.payload;
    if (call.kind == Kind::unary && !call.error) {
      EXPECT_EQ(counts[call.payload], 1) << call.payload;
    }
  }
}

void an_error_without_maybe_executed_was_not_executed(const History& history) {
  auto counts = counts_of(history.executions);
  for (const CallRecord& call : history.calls) {
    if (call.kind == Kind::stream || !call.error || call.error->maybe_executed()) continue;
    EXPECT_EQ(counts[call.payload], 0) << call.payload << ": " << *call.error;
  }
}

void items_of_a_stream_come_in_order_and_all_of_them_before_a_good_end(const History& history) {
  for (const CallRecord& call : history.calls) {
    if (call.kind != Kind::stream) continue;
    for (std::size_t i = 0; i < call.items.size(); ++i) EXPECT_EQ(call.items[i], i);
    if (!call.error) {
      EXPECT_EQ(std::to_string(call.items.size()), call.payload);
    }
  }
}

void servers_stop_with_nothing_left(const History& history) {
  for (const rpc::Server::Statistics& server : history.stopped_servers) {
    EXPECT_EQ(server.running_count, 0u);
    EXPECT_EQ(server.waiting_count, 0u);
    EXPECT_EQ(server.stream_count, 0u);
    EXPECT_EQ(server.connection_count, 0u);
  }
}

void the_same_client_succeeds_after_healing(const History& history) {
  EXPECT_TRUE(history.works_at_last);
}

constexpr auto promises = {
    every_call_ends_by_its_deadline,
    answered_calls_were_executed_once_and_no_call_twice,
    an_error_without_maybe_executed_was_not_executed,
    items_of_a_stream_come_in_order_and_all_of_them_before_a_good_end,
    servers_stop_with_nothing_left,
    the_same_client_succeeds_after_healing,
};

// The outcomes of all seeds: a call that almost always or never succeeds proves little.
struct Outcomes {
  void add(const History& history) {
    for (const CallRecord& call : history.calls) ++counts[{call.kind, !call.error.has_value()}];
    restart_count += history.stopped_servers.size();
    drained_count += history.drained_count;
  }
  void expect_a_good_mix() const {
    for (const Kind kind : {Kind::unary, Kind::one_way, Kind::stream}) {
      const int good = counts.at({kind, true});
      const int bad = counts.at({kind, false});
      EXPECT_GT(good, (good + bad) / 10) << static_cast<int>(kind);
      EXPECT_GT(bad, (good + bad) / 100) << static_cast<int>(kind);
    }
    EXPECT_GT(drained_count, static_cast<int>(restart_count / 2));
  }

  std::map<std::pair<Kind, bool>, int> counts;
  std::size_t restart_count = 0;
  int drained_count = 0;
};

TEST(ChaosRestartTest, RestartsOfAServerBreakNoPromise) {
  Outcomes outcomes;
  const std::uint64_t seed_count = under_slow_watch() ? 20 : 200;
  for (std::uint64_t seed = 1; seed <= seed_count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const History history = ChaosRun::run(seed);
    for (const auto promise : promises) promise(history);
    outcomes.add(history);
    if (HasFailure()) return;
  }
  outcomes.expect_a_good_mix();
}

}  // namespace
}  // namespace corolane::test
