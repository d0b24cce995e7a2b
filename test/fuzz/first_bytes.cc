// SPDX-License-Identifier: MIT
// One port for TLS, frames and HTTP, and a peer that sends arbitrary bytes: it is taken for one of
// them at most, the same in any chunking, and its server gets every byte of it.
//
// Input: cuts, and the peer's bytes from the first one on.
#include "net/one_port/first_bytes.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"
#include "net/one_port/one_port.h"
#include "net/testing/network.h"
#include "rpc/wire/frame.h"
#include "test/fuzz/target.h"

namespace corolane::fuzz {
namespace {

using namespace std::chrono_literals;

constexpr auto matchers =
    std::to_array<net::Match (*)(Bytes)>({net::match_tls, rpc::match_hello, net::match_http});

// Each says yes or no in time, never changes its mind, and no two say yes.
void check_matchers(Bytes flow) {
  std::size_t yes_count = 0;
  for (const auto match : matchers) {
    net::Match last = net::Match::maybe;
    for (std::size_t size = 0; size <= std::min(flow.size(), net::OnePort::Kind{}.first_bytes_max);
         ++size) {
      const net::Match said = match(flow.first(size));
      check(last == net::Match::maybe || said == last, "a kind is not reconsidered");
      last = said;
    }
    check(last != net::Match::maybe || flow.size() < net::OnePort::Kind{}.first_bytes_max,
          "enough bytes decide");
    if (last == net::Match::yes) ++yes_count;
  }
  check(yes_count <= 1, "no connection is of two kinds");
}

struct Outcome {
  std::string kind;  // Empty: it was closed.
  std::string bytes;
  std::string answer;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::string read_all(net::Stream& stream) {
  std::string all;
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const auto count = stream.read_some(buffer, Deadline::after(15s));
    if (!count || *count == 0) return all;
    all += text_of(std::span(buffer).first(*count));
  }
}

// Suspends.
Outcome say(const Pieces& pieces) {
  const net::Endpoint endpoint{.address = "server", .port = 1};
  sim::SimulatedNetwork network;
  net::ConnectionBound connections({.count_max = 10});
  net::OnePort port(network, connections,
                    {{.name = "tls", .match = net::match_tls},
                     {.name = "frames", .match = rpc::match_hello},
                     {.name = "http2",
                      .match = net::match_http2,
                      .refusal = net::refusal_by_http2("speak HTTP/1.1")},
                     {.name = "http", .match = net::match_http}});
  const auto stream_of = [&](net::Listener& listener) {
    auto stream = listener.accept(Deadline::passed());
    return stream ? *std::move(stream) : nullptr;
  };
  std::vector<std::pair<std::string, std::unique_ptr<net::Listener>>> listeners;
  for (const char* const kind : {"tls", "frames", "http"}) {
    auto listener = port.network(kind).listen(endpoint);
    check(listener.has_value(), "each kind finds its listener");
    listeners.emplace_back(kind, *std::move(listener));
  }
  const auto client = network.connect(endpoint, Deadline::after(1s));
  check(client.has_value(), "the peer can connect");
  for (const Bytes piece : pieces) check((*client)->try_write(piece).has_value(), "and speak");
  (*client)->finish_writing();
  check(coroutine::sleep_for(10s).has_value(), "time passes");

  Outcome outcome;
  for (auto& [kind, listener] : listeners) {
    const auto server = stream_of(*listener);
    if (server == nullptr) continue;
    check(outcome.kind.empty(), "a connection has one server");
    outcome.kind = kind;
    outcome.bytes = read_all(*server);
  }
  outcome.answer = read_all(**client);
  check(port.statistics().undecided_count == 0, "nothing stays undecided");
  check(connections.statistics().count == 0, "nor keeps its place");
  return outcome;
}

}  // namespace

void run(Input input) {
  // One for all inputs: creating it costs more than most of them.
  static coroutine::VirtualTime time;
  static coroutine::Scheduler scheduler(time);
  const auto cuts = input.take_cuts();
  check_matchers(input.rest());
  const auto ran = scheduler.run("fuzz", [&] {
    const Outcome whole = say({input.rest()});
    check(whole.kind.empty() || whole.bytes == text_of(input.rest()), "no byte is lost");
    check(say(cut(input.rest(), cuts)) == whole, "cuts change nothing");
  });
  check(ran.has_value(), "the task runs");
}

}  // namespace corolane::fuzz
