// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/abusers.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <utility>

#include "net/descriptor_limit.h"
#include "net/stream.h"
#include "tools/benchmarks/network/http_text.h"
#include "tools/benchmarks/network/rpc_requests.h"
#include "tools/benchmarks/network/socket.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t many = 10'000;
constexpr std::size_t flooding_count = 1'000;

// Each process connects from an address of its own: a pair of addresses has 28,000 ports.
constexpr std::uint8_t first_source = 2;

// Client and server share a kernel: with megabytes in each of these buffers it runs out of memory
// for sockets, and drops packets of all connections.
constexpr int send_buffer_bytes = 64 * 1024;
constexpr int slow_receive_buffer_bytes = 4 * 1024;

constexpr std::size_t slow_payload_bytes = 30'000;
constexpr std::size_t slow_call_count = 4;
constexpr std::size_t slow_read_bytes = 512;

// A step of a rhythm, in which each connection has its turn every four seconds.
constexpr auto step_time = 10ms;
constexpr std::size_t step_count = 400;

// Clients that flood are stuck when their sockets have accepted nothing for this time: a server
// needs time for earlier requests.
constexpr auto stuck_time = 1s;
// The limit of that phase, however long the server keeps reading.
constexpr auto filling_time_max = 15s;

// Reports that the abuse has begun.
void report_ready() {
  std::puts("ready");
  std::fflush(stdout);
}

// Keeps it up until killed.
[[noreturn]] void stay() {
  report_ready();
  for (;;) pause();
}

int fail(const Error& error) {
  std::puts(error.message().c_str());
  return EXIT_FAILURE;
}

Bytes bytes_of(std::string_view text) {
  const auto bytes = net::bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

Bytes hello_of(std::string_view token) {
  Bytes hello;
  append_rpc_hello(hello, token);
  return hello;
}

// The first half of a ClientHello (RFC 8446, 4.1.2).
Bytes half_client_hello() {
  return bytes_of(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) +
                  std::string(240, 'r'));
}

// Connects `count` times and writes what `greeting` returns for each. The write may fail, when the
// server refuses the connection.
Result<std::vector<Descriptor>> connect_all(std::uint16_t port, std::uint8_t source,
                                            std::size_t count,
                                            const std::function<Bytes(std::size_t)>& greeting,
                                            int option = 0, int option_bytes = 0) {
  net::raise_descriptor_limit();
  std::vector<Descriptor> sockets;
  while (sockets.size() < count) {
    auto socket = connect_to_loopback(port, source);
    if (!socket) return socket.error();
    if (option != 0) {
      setsockopt(socket->number(), SOL_SOCKET, option, &option_bytes, sizeof option_bytes);
    }
    static_cast<void>(write_now(socket->number(), greeting(sockets.size())));
    sockets.push_back(std::move(*socket));
  }
  return sockets;
}

// Connections that send the same few bytes, and wait.
int stay_half_way(std::uint16_t port, std::uint8_t source, const Bytes& begun) {
  const auto sockets = connect_all(port, source, many, [&](std::size_t) { return begun; });
  if (!sockets) return fail(sockets.error());
  stay();
}

int stay_half_open(std::uint16_t port, std::uint8_t source) {
  const Bytes hello = hello_of(client_token);
  const Bytes half(hello.begin(), hello.begin() + static_cast<std::ptrdiff_t>(hello.size() / 2));
  const auto sockets = connect_all(
      port, source, many, [&](std::size_t number) { return number % 2 == 1 ? half : Bytes(); });
  if (!sockets) return fail(sockets.error());
  stay();
}

// Writes `requests` to each socket over and over, until none takes more.
void fill(const std::vector<Descriptor>& sockets, std::span<const std::byte> requests,
          std::size_t bytes_max) {
  std::vector<std::size_t> sent_counts(sockets.size());
  const Clock::time_point start = Clock::now();
  Clock::time_point last_sent_at = start;
  for (Clock::time_point now = start;
       now < last_sent_at + stuck_time && now < start + filling_time_max; now = Clock::now()) {
    for (std::size_t index = 0; index < sockets.size(); ++index) {
      std::size_t& sent_count = sent_counts[index];
      if (sent_count >= bytes_max) continue;
      const auto rest = requests.subspan(sent_count % requests.size());
      const auto count = write_now(sockets[index].number(), rest);
      if (!count || *count == 0) continue;
      sent_count += *count;
      last_sent_at = now;
    }
  }
}

Bytes repeated(const Bytes& request, std::size_t count) {
  Bytes requests;
  for (; count > 0; --count) requests.insert(requests.end(), request.begin(), request.end());
  return requests;
}

int flood(std::uint16_t port, std::uint8_t source, const Bytes& request, bool says_hello) {
  const auto sockets = connect_all(
      port, source, flooding_count,
      [&](std::size_t number) {
        return says_hello ? hello_of("flood " + std::to_string(number)) : Bytes();
      },
      SO_SNDBUF, send_buffer_bytes);
  if (!sockets) return fail(sockets.error());
  fill(*sockets, repeated(request, 100), std::numeric_limits<std::size_t>::max());
  stay();
}

// Runs `act` for each socket in turn, a few in each step.
[[noreturn]] void keep_rhythm(std::vector<Descriptor>& sockets,
                              const std::function<void(Descriptor&)>& act) {
  const std::size_t share = sockets.size() / step_count;
  for (std::size_t first = 0;; first = (first + share) % sockets.size()) {
    for (std::size_t index = first; index < first + share; ++index) act(sockets[index]);
    std::timespec time{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(step_time).count()};
    nanosleep(&time, nullptr);
  }
}

int read_slowly(std::uint16_t port, std::uint8_t source) {
  auto sockets = connect_all(
      port, source, many,
      [&](std::size_t number) {
        return hello_of("slow " + std::to_string(source) + "." + std::to_string(number));
      },
      SO_RCVBUF, slow_receive_buffer_bytes);
  if (!sockets) return fail(sockets.error());
  const Bytes requests =
      repeated(rpc_request("corolane.bench.Echo/Echo", 60s, slow_payload_bytes), slow_call_count);
  fill(*sockets, requests, requests.size());
  report_ready();
  keep_rhythm(*sockets, [](Descriptor& socket) {
    std::array<std::byte, slow_read_bytes> buffer;
    static_cast<void>(read_now(socket.number(), buffer));
  });
}

int call_in_turn(std::uint16_t port, std::uint8_t source) {
  auto sockets = connect_all(port, source, many, [](std::size_t number) {
    return hello_of("crowd " + std::to_string(number));
  });
  if (!sockets) return fail(sockets.error());
  const Bytes request = rpc_request("corolane.bench.Echo/Echo", 1s);
  report_ready();
  keep_rhythm(*sockets, [&](Descriptor& socket) {
    std::array<std::byte, 4096> buffer;
    static_cast<void>(read_now(socket.number(), buffer));
    static_cast<void>(write_now(socket.number(), request));
  });
}

using Body = std::function<int(std::uint8_t source)>;

std::vector<Body> bodies(Abuse abuse, std::uint16_t port) {
  switch (abuse) {
    case Abuse::none:
      return {};
    case Abuse::half_open:
      return {2, [=](std::uint8_t source) { return stay_half_open(port, source); }};
    case Abuse::never_reading:
      return {[=](std::uint8_t source) {
        return flood(port, source, rpc_request("corolane.bench.Echo/Echo", 10s),
                     /*says_hello=*/true);
      }};
    case Abuse::slow_readers:
      return {2, [=](std::uint8_t source) { return read_slowly(port, source); }};
    case Abuse::one_address:
      return {[=](std::uint8_t source) { return call_in_turn(port, source); }};
    case Abuse::half_tls:
      return {
          2, [=](std::uint8_t source) { return stay_half_way(port, source, half_client_hello()); }};
    case Abuse::http_flood:
      return {[=](std::uint8_t source) {
                return flood(port, source, bytes_of(http_json_request("Echo", 10s)),
                             /*says_hello=*/false);
              },
              [=](std::uint8_t source) {
                const std::string request = http_json_request("Echo", 10s);
                return stay_half_way(port, source, bytes_of(request.substr(0, 60)));
              }};
  }
  return {};
}

}  // namespace

Result<std::vector<Process>> begin(Abuse abuse, std::uint16_t port) {
  std::vector<Process> abusers;
  std::uint8_t source = first_source;
  for (const Body& body : bodies(abuse, port)) {
    auto process = Process::start([&] {
      pin_to(Core::generator);
      return body(source);
    });
    if (!process) return process.error();
    const auto ready = process->read_line();
    if (!ready) return Error(ready.error()).with_context("an abuser");
    if (*ready != "ready") return Error(Code::unavailable, "an abuser: " + *ready);
    abusers.push_back(std::move(*process));
    ++source;
  }
  return abusers;
}

}  // namespace corolane::bench
