// SPDX-License-Identifier: MIT
// The abusers run in separate processes, because the limit of descriptors is per process.
#include "tools/benchmarks/network/abuse.h"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "net/descriptor_limit.h"
#include "tools/benchmarks/network/open_loop.h"
#include "tools/benchmarks/network/rpc_requests.h"
#include "tools/benchmarks/network/server_cost.h"
#include "tools/benchmarks/network/socket.h"
#include "tools/benchmarks/process.h"
#include "tools/benchmarks/statistics.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t half_open_process_count = 2;
constexpr std::size_t half_open_per_process = 10'000;
constexpr std::size_t never_reading_count = 1'000;
constexpr int send_buffer_bytes = 64 * 1024;
// Clients that never read are stuck when their sockets have accepted nothing for this time: a
// server needs time for earlier requests.
constexpr auto stuck_time = 1s;
// The limit of that phase, however long the server keeps reading.
constexpr auto filling_time_max = 15s;

constexpr double moderate_calls_per_second = 5'000;
constexpr std::size_t moderate_client_count = 10;
constexpr std::chrono::milliseconds patience = 1s;
// The measurement excludes two phases: the arrival of the abusers, which keeps both cores busy, and
// the end of half-open connections five seconds later. The kernel handles the abusers' side of
// these connections on the server's core as well, and its timers hold that core for a millisecond
// at a time.
constexpr std::chrono::milliseconds settling_time = 1500ms;
// The result is the median of this many windows, each a quarter of the usual effort: a virtual
// machine that loses its core for some milliseconds spoils the 99th percentile of one window, but
// not of most.
constexpr int window_count = 8;

// Reports that the abuse has begun, and keeps it up until killed.
[[noreturn]] void stay() {
  std::puts("ready");
  std::fflush(stdout);
  for (;;) pause();
}

// Each process connects from its own address: a pair of addresses has 28,000 ports.
int stay_half_open(std::uint16_t port, std::uint8_t source) {
  net::raise_descriptor_limit();
  Bytes hello;
  append_rpc_hello(hello);
  std::vector<Descriptor> sockets;
  while (sockets.size() < half_open_per_process) {
    auto socket = connect_to_loopback(port, source);
    if (!socket) {
      std::puts(socket.error().message().c_str());
      return EXIT_FAILURE;
    }
    // The write may fail when the server refuses the connection.
    if (sockets.size() % 2 == 1) {
      static_cast<void>(write_now(socket->number(), std::span(hello).first(hello.size() / 2)));
    }
    sockets.push_back(std::move(*socket));
  }
  stay();
}

int never_read(std::uint16_t port) {
  using Clock = std::chrono::steady_clock;
  net::raise_descriptor_limit();
  const Bytes request = rpc_request("corolane.bench.Echo/Echo", 10s);
  Bytes requests;
  for (int count = 0; count < 100; ++count) {
    requests.insert(requests.end(), request.begin(), request.end());
  }
  struct Talker {
    Descriptor socket;
    std::size_t sent_count;  // The position in `requests`, which it sends over and over.
  };
  std::vector<Talker> talkers;
  Bytes hello;
  append_rpc_hello(hello);
  while (talkers.size() < never_reading_count) {
    auto socket = connect_to_loopback(port, 4);
    if (!socket) return EXIT_FAILURE;
    // Client and server share a kernel: with megabytes in each of these buffers it runs out of
    // memory for sockets, and drops packets of all connections.
    const int bytes = send_buffer_bytes;
    setsockopt(socket->number(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (!write_now(socket->number(), hello)) return EXIT_FAILURE;
    talkers.push_back({.socket = std::move(*socket), .sent_count = 0});
  }
  const Clock::time_point start = Clock::now();
  Clock::time_point last_sent_at = start;
  for (Clock::time_point now = start;
       now < last_sent_at + stuck_time && now < start + filling_time_max; now = Clock::now()) {
    for (Talker& talker : talkers) {
      const auto rest = std::span(requests).subspan(talker.sent_count);
      const auto count = write_now(talker.socket.number(), rest);
      if (!count || *count == 0) continue;
      talker.sent_count = (talker.sent_count + *count) % requests.size();
      last_sent_at = now;
    }
  }
  stay();
}

Result<void> add_abuser(const std::function<int()>& body, std::vector<Process>& abusers) {
  auto process = Process::start([&] {
    pin_to(Core::generator);
    return body();
  });
  if (!process) return process.error();
  const auto ready = process->read_line();
  if (!ready) return Error(ready.error()).with_context("an abuser");
  if (*ready != "ready") return Error(Code::unavailable, "an abuser: " + *ready);
  abusers.push_back(std::move(*process));
  return {};
}

Result<std::vector<Process>> begin(Abuse abuse, std::uint16_t port) {
  std::vector<Process> abusers;
  if (abuse == Abuse::never_reading) {
    auto added = add_abuser([=] { return never_read(port); }, abusers);
    if (!added) return added.error();
  }
  for (std::size_t index = 0; abuse == Abuse::half_open && index < half_open_process_count;
       ++index) {
    const auto source = static_cast<std::uint8_t>(2 + index);
    auto added = add_abuser([=] { return stay_half_open(port, source); }, abusers);
    if (!added) return added.error();
  }
  return abusers;
}

Result<Measurement> latency_of(OpenLoop& clients) {
  const auto time = effort() / 4;
  std::vector<double> p50s_us;
  std::vector<double> p99s_us;
  std::uint64_t good_count = 0;
  for (int window = 0; window < window_count; ++window) {
    auto outcome = clients.run(moderate_calls_per_second, time);
    if (!outcome) return outcome.error();
    // An unanswered call counts with the full deadline.
    for (std::uint64_t count = outcome->answered_count(); count < outcome->sent_count; ++count) {
      outcome->latency_ns.record(std::chrono::nanoseconds(patience).count());
    }
    p50s_us.push_back(static_cast<double>(outcome->latency_ns.quantile(0.5)) / 1e3);
    p99s_us.push_back(static_cast<double>(outcome->latency_ns.quantile(0.99)) / 1e3);
    good_count += outcome->good_count;
  }
  const double seconds = std::chrono::duration<double>(time * window_count).count();
  const double p99_us = median_of(p99s_us);
  return Measurement{.value = p99_us,
                     .traffic = Traffic{.ops_per_second = static_cast<double>(good_count) / seconds,
                                        .p50_us = median_of(p50s_us),
                                        .p99_us = p99_us}};
}

}  // namespace

Measure latency_under(Abuse abuse, Serve serve) {
  return [abuse, serve = std::move(serve)]() -> Result<Measurement> {
    pin_to(Core::generator);
    const auto server = ServerProcess::start(serve);
    if (!server) return server.error();
    auto clients = OpenLoop::connect(server->port(), {.method = "corolane.bench.Echo/Echo",
                                                      .connection_count = moderate_client_count,
                                                      .deadline = patience});
    if (!clients) return clients.error();
    const auto warm = (*clients)->run(moderate_calls_per_second, warm_up_time);
    if (!warm) return warm.error();
    const auto abusers = begin(abuse, server->port());
    if (!abusers) return abusers.error();
    const auto settled = (*clients)->run(moderate_calls_per_second, settling_time);
    if (!settled) return settled.error();
    return latency_of(**clients);
  };
}

}  // namespace corolane::bench
