// SPDX-License-Identifier: MIT
// The filters used in production cost an unobserved call no allocation.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coroutine/base/allocations.h"
#include "rpc/call_scope.h"
#include "rpc/observe/call_log.h"
#include "rpc/observe/tracing.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

// Keeps nothing.
class QuietService : public EchoService {
 public:
  Result<EchoReply> echo(const EchoRequest&, rpc::Context&) override { return EchoReply(); }
};

// Waits that have no span, since no trace is sampled, cost no allocation either.
TEST(FilterAllocationTest, AWaitOfAnUnsampledCallAllocatesNothing) {
  std::uint64_t count = 1;
  auto task = coroutine::spawn("caller", [&] {
    rpc::Tracer tracer({.sample_ratio = 1}, [](const rpc::SpanRecord&) {});
    rpc::CallScope::enter({.trace = {.trace_id = {std::byte{7}}, .span_id = 9}});
    const std::uint64_t before = allocations().count;
    for (int i = 0; i < 100; ++i) {
      rpc::Span wait = rpc::Tracer::wait(&tracer, "wait for turn");
      wait.attribute("corolane.object.type", "chess.Player");
    }
    count = allocations().count - before;
  });
  EXPECT_TRUE(task.join(Deadline::never()));
  EXPECT_EQ(count, 0u);
}

enum class Filters { none, of_production };

// Allocations per call, of both ends and the simulated network together, after a warm-up.
double allocations_per_call(Filters filters, const rpc::TraceContext& trace) {
  double per_call = -1;
  auto task = coroutine::spawn("caller", [&] {
    sim::SimulatedNetwork network;
    QuietService service;
    rpc::Tracer tracer({}, [](const rpc::SpanRecord&) {});
    rpc::CallLog log({}, [](const rpc::LoggedCall&) {});
    rpc::Server server(network);
    std::vector<rpc::ClientFilter> client_filters;
    if (filters == Filters::of_production) {
      server.add_filter(tracer.server_filter(), rpc::FilterSees::outcomes);
      server.add_observer(log.server_observer());
      client_filters.push_back(tracer.client_filter());
    }
    check(server.add(service).has_value() &&
              server.listen({"server", 1}, {.door = rpc::Door::nodes}).has_value(),
          "serves");
    const auto client = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s),
                                             {.filters = std::move(client_filters)});
    check(client.has_value(), "the client connects");
    rpc::CallScope::enter({.trace = trace});
    const EchoRequest request;
    const auto call = [&](int count) {
      for (int i = 0; i < count; ++i) EXPECT_TRUE(EchoClient(**client).echo(request));
    };
    call(100);
    const std::uint64_t before = allocations().count;
    call(1000);
    per_call = static_cast<double>(allocations().count - before) / 1000;
  });
  EXPECT_TRUE(task.join(Deadline::never()));
  return per_call;
}

TEST(FilterAllocationTest, UntracedCallAllocatesNothingForItsFilters) {
  const double bare = allocations_per_call(Filters::none, {});
  EXPECT_GT(bare, 0) << "the counter works: the simulated network keeps pieces";
  EXPECT_EQ(allocations_per_call(Filters::of_production, {}), bare);
}

TEST(FilterAllocationTest, UnsampledTraceContextAllocatesNothing) {
  const rpc::TraceContext trace{.trace_id = {std::byte{1}}, .span_id = 2};
  const double traced = allocations_per_call(Filters::of_production, trace);
  EXPECT_EQ(traced, allocations_per_call(Filters::none, trace));
  // The simulated network takes a little more for longer requests, now and then.
  EXPECT_NEAR(traced, allocations_per_call(Filters::none, {}), 0.1);
}

}  // namespace
}  // namespace corolane::test
