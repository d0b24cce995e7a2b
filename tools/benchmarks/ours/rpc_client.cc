// SPDX-License-Identifier: MIT
// A client process: each line starts a run of its tasks, and it blocks until the next line.
#include "tools/benchmarks/ours/rpc_client.h"

#include <google/protobuf/arena.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/histogram.h"
#include "coroutine/task_group.h"
#include "net/uv/uv_network.h"
#include "rpc/client/client.h"
#include "tools/benchmarks/allocation_count.h"
#include "tools/benchmarks/echo.corolane.h"
#include "tools/benchmarks/network/program.h"
#include "tools/benchmarks/network/rpc_requests.h"
#include "tools/benchmarks/ours/run_in_task.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
// The scheduler's time would not do: it stands still within a turn of the loop.
using Clock = std::chrono::steady_clock;

EchoRequest echo_request() {
  EchoRequest request;
  request.set_payload(std::string(rpc_payload_bytes, 'p'));
  return request;
}

Result<void> call_until(rpc::Client& client, Clock::time_point end, Histogram& latency_ns) {
  EchoClient echo(client);
  const EchoRequest request = echo_request();
  for (Clock::time_point begun_at = Clock::now(); begun_at < end;) {
    const auto reply = echo.echo(request, {.deadline = Deadline::after(1s)});
    if (!reply) return reply.error();
    if (reply->payload() != request.payload()) return Error(Code::internal, "wrong echo");
    const Clock::time_point now = Clock::now();
    latency_ns.record(static_cast<std::uint64_t>((now - begun_at).count()));
    begun_at = now;
  }
  return {};
}

Result<void> run_once(const std::vector<std::unique_ptr<rpc::Client>>& clients,
                      std::size_t in_flight, std::chrono::milliseconds time) {
  Histogram latency_ns;
  coroutine::TaskGroup callers;
  const Clock::time_point start = Clock::now();
  for (const auto& client : clients) {
    for (std::size_t count = 0; count < in_flight; ++count) {
      auto spawned = callers.spawn(
          "caller", [&, end = start + time] { return call_until(*client, end, latency_ns); });
      if (!spawned) return spawned.error();
    }
  }
  if (auto joined = callers.join(Deadline::never()); !joined) return joined;
  std::printf("%llu %lld %llu %llu\n", static_cast<unsigned long long>(latency_ns.count()),
              static_cast<long long>((Clock::now() - start).count()),
              static_cast<unsigned long long>(latency_ns.quantile(0.5)),
              static_cast<unsigned long long>(latency_ns.quantile(0.99)));
  std::fflush(stdout);
  return {};
}

Result<void> run(net::EventLoop& loop, std::uint16_t port, Load load) {
  net::UvNetwork network(loop);
  std::vector<std::unique_ptr<rpc::Client>> clients;
  for (std::size_t count = 0; count < load.connection_count; ++count) {
    auto client = rpc::Client::connect(network, {"127.0.0.1", port}, Deadline::after(5s),
                                       {.token = [] { return std::string(client_token); }});
    if (!client) return client.error();
    clients.push_back(std::move(*client));
  }
  // Nothing is in flight while this blocks the loop.
  for (std::string line; std::getline(std::cin, line);) {
    const std::chrono::milliseconds time(std::stoul(line));
    if (auto ran = run_once(clients, load.in_flight, time); !ran) return ran;
  }
  return {};
}

}  // namespace

Connect our_rpc_client(Load load) {
  return forked_client([=](std::uint16_t port) {
    net::EventLoop loop;
    const auto ran = run_in_task_on(loop, {}, [&] { return run(loop, port, load); });
    if (!ran) std::printf("%s\n", ran.error().message().c_str());
    return ran ? EXIT_SUCCESS : EXIT_FAILURE;
  });
}

Result<Measurement> allocations_of_messages() {
  const std::string bytes = echo_request().SerializeAsString();
  std::array<char, 4096> block;
  google::protobuf::ArenaOptions options;
  options.initial_block = block.data();
  options.initial_block_size = block.size();
  google::protobuf::Arena arena(options);
  const std::uint64_t before = allocation_count_of_process();
  auto* const request = google::protobuf::Arena::CreateMessage<EchoRequest>(&arena);
  if (!request->ParseFromString(bytes)) return Error(Code::internal, "the request does not parse");
  EchoReply reply;
  reply.set_payload(request->payload());
  return Measurement{.value = static_cast<double>(allocation_count_of_process() - before)};
}

}  // namespace corolane::bench
