// SPDX-License-Identifier: MIT
// A thread beside the clients, on their core, reads the pages.
#include "tools/benchmarks/network/pages.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "coroutine/scheduler.h"
#include "net/http/http_client.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "tools/benchmarks/network/overload.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 10s;

struct Slowest {
  Duration time{};
  std::string target;
  std::size_t read_count = 0;
};

// Reads the pages in turn until `is_over`, and each of them at least once.
Result<Slowest> read_in_turn(net::Network& network, const std::string& admin,
                             const std::vector<std::string>& targets,
                             const std::atomic<bool>& is_over) {
  Slowest slowest;
  while (!is_over || slowest.read_count < targets.size()) {
    const std::string& target = targets[slowest.read_count++ % targets.size()];
    const TimePoint begin = now();
    const auto response = net::fetch_http(
        network, {admin, 0}, {.method = "GET", .target = target, .body = {}, .headers = {}},
        Deadline::after(patience));
    if (!response) return response.error();
    if (response->status != 200) return Error(Code::internal, target + ": " + response->body);
    const Duration time = now() - begin;
    if (time > slowest.time) {
      slowest.time = time;
      slowest.target = target;
    }
  }
  return slowest;
}

Result<Slowest> read_on_own_loop(const std::string& admin, const std::vector<std::string>& targets,
                                 const std::atomic<bool>& is_over) {
  net::EventLoop loop;
  coroutine::Scheduler scheduler(loop);
  Result<Slowest> slowest = Error(Code::internal, "nothing was read");
  const auto ran = scheduler.run("reader", [&] {
    net::UvNetwork network(loop);
    slowest = read_in_turn(network, admin, targets, is_over);
  });
  return ran ? slowest : Result<Slowest>(ran.error());
}

}  // namespace

Measure slowest_page_under_overload(Serve serve, std::string (*admin)(int parent_process),
                                    std::vector<std::string> targets, double factor) {
  return [=, serve = std::move(serve), targets = std::move(targets)]() -> Result<Measurement> {
    const auto overloaded = Overloaded::prepare(serve, Way::frames);
    if (!overloaded) return overloaded.error();
    std::atomic<bool> is_over = false;
    Result<Slowest> slowest = Error(Code::internal, "nothing was read");
    std::thread reader(
        [&] { slowest = read_on_own_loop("unix:" + admin(::getpid()), targets, is_over); });
    const auto outcome = overloaded->clients->run(overloaded->capacity * factor, overload_time());
    is_over = true;
    reader.join();
    if (!outcome) return outcome.error();
    if (!slowest) return slowest.error();
    return Measurement{.value = std::chrono::duration<double, std::milli>(slowest->time).count()};
  };
}

}  // namespace corolane::bench
