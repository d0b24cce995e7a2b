// SPDX-License-Identifier: MIT
// A node that is measured in its own process reads its pages itself.
#include "tools/benchmarks/ours/node.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "coroutine/sync/event.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/pages/admin_pages.h"
#include "net/http/http_client.h"
#include "net/uv/uv_network.h"
#include "rpc/server/server.h"
#include "tools/benchmarks/ours/echo_service.h"
#include "tools/benchmarks/ours/login.h"
#include "tools/benchmarks/ours/one_process.h"
#include "tools/benchmarks/ours/run_in_task.h"
#include "tools/benchmarks/ours/serve_in_task.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using framework::Node;

constexpr auto read_interval = 1s;
constexpr auto patience = 10s;

Result<std::string> read_page(net::Network& network, const net::Endpoint& admin,
                              const std::string& target) {
  auto response = net::fetch_http(network, {admin.address, admin.port},
                                  {.method = "GET", .target = target, .body = {}, .headers = {}},
                                  Deadline::after(patience));
  if (!response) return response.error();
  if (response->status != 200) return Error(Code::internal, target + ": " + response->body);
  return std::move(response->body);
}

// Reads the pages that Prometheus and an operator with a dashboard would read.
Result<void> read_pages_for_ever(net::Network& network, const net::Endpoint& admin) {
  for (;;) {
    for (const char* target : {"/metrics", "/stats?format=json&buckets=yes", "/methods?format=json",
                               "/tasks?format=json"}) {
      if (auto read = read_page(network, admin, target); !read) return read.error();
    }
    if (auto slept = coroutine::sleep_for(read_interval); !slept) return slept;
  }
}

Result<void> serve_node(net::EventLoop& loop) {
  net::UvNetwork network(loop);
  framework::NodeConfig config = node_config("observed", 1);
  config.admin.listen = "unix:" + admin_of_observed_node(::getppid());
  config.clients.calls_per_connection_max = 100'000;
  // As run_main() makes it.
  Node node(config, network, framework::Log(config.log_level), {.has_control_loop = true});
  framework::add_node_pages(node.admin(), node);
  node.set_login(take_any_token);
  node.serve(EchoService());
  if (auto started = node.start(); !started) return started;
  node.observe();
  // The first request reads the debug information from the disk.
  auto read = read_page(network, node.endpoints().admin, "/tasks?group=stack");
  if (!read) return read.error();
  Seat::announce(node.endpoints().clients.port);
  return read_pages_for_ever(network, node.endpoints().admin);
}

// Waits like the signal thread of every service process. With a second thread the allocator takes
// locks; the bare server must pay for them, too.
std::jthread another_thread() {
  return std::jthread([](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait(lock, stop, [] { return false; });
  });
}

Result<void> serve_bare(net::EventLoop& loop) {
  net::UvNetwork network(loop);
  const std::jthread other = another_thread();
  EchoService service;
  rpc::Server server(network, {.calls_per_connection_max = 100'000});
  if (auto added = server.add(service, rpc::Server::Audience::everybody); !added) return added;
  const auto endpoint =
      server.listen({"127.0.0.1", 0}, {.door = rpc::Door::clients, .login = take_any_token});
  if (!endpoint) return endpoint.error();
  Seat::announce(endpoint->port);
  return coroutine::sleep_until(Deadline::never());
}

// --- Many tasks that wait

[[gnu::noinline]] void wait_for_gong(coroutine::Event& gong) {
  static_cast<void>(gong.wait(Deadline::never()));
}
[[gnu::noinline]] void wait_for_lock(coroutine::Mutex& lock) {
  if (lock.try_lock_until(Deadline::never())) lock.unlock();
}
[[gnu::noinline]] void wait_for_morning() { static_cast<void>(coroutine::sleep_for(24h)); }

Result<void> spawn_waiting(coroutine::TaskGroup& group, std::size_t count, coroutine::Event& gong,
                           coroutine::Mutex& lock) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto spawned = i % 3 == 0   ? group.spawn("listener", [&] { wait_for_gong(gong); })
                         : i % 3 == 1 ? group.spawn("in line", [&] { wait_for_lock(lock); })
                                      : group.spawn("sleeper", [] { wait_for_morning(); });
    if (!spawned) return spawned.error();
  }
  return coroutine::sleep_for(50ms);
}

// Checks that there are three groups of the right size, each in its wait function.
Result<void> check_groups(const std::string& text, std::size_t count) {
  const auto page = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  constexpr auto functions =
      std::to_array<const char*>({"wait_for_gong", "wait_for_lock", "wait_for_morning"});
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const auto found = std::ranges::count_if(page["groups"], [&](const nlohmann::json& group) {
      return group["count"] == (count + 2 - i) / 3 && group["stack"].dump().contains(functions[i]);
    });
    if (found != 1) {
      return Error(Code::internal,
                   std::string("not exactly one group in ") + functions[i] + ": " + text);
    }
  }
  return {};
}

// Runs `measure` with a node in which `count` tasks wait.
template <typename F>
Result<Measurement> with_waiting_tasks(std::size_t count, F measure) {
  // A separate thread finds the names of stacks.
  use_all_cores();
  return with_network([&](net::Network& network) -> Result<Measurement> {
    Node node(node_config("crowded", 1), network);
    framework::add_node_pages(node.admin(), node);
    if (auto started = node.start(); !started) return started.error();
    node.observe();
    coroutine::Event gong("gong");
    coroutine::Mutex lock;
    lock.lock();
    coroutine::TaskGroup group;
    if (auto spawned = spawn_waiting(group, count, gong, lock); !spawned) return spawned.error();
    // The first request reads the debug information from the disk.
    auto page = read_page(network, node.endpoints().admin, "/tasks?group=stack&format=json");
    if (!page) return page.error();
    if (auto right = check_groups(*page, count); !right) return right.error();
    auto measured = measure(network, node);
    lock.unlock();
    group.cancel_and_join();
    return measured;
  });
}

// CPU time excludes other work on the machine.
std::chrono::nanoseconds thread_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

std::string admin_of_observed_node(int parent_process) {
  return "@corolane-bench-" + std::to_string(parent_process);
}

Error serve_observed_node(const Seat& seat) { return serve_in_task(seat, serve_node); }

Error serve_bare_rpc(const Seat& seat) {
  return serve_in_task(seat, serve_bare,
                       {.switch_sample_interval = 0,
                        .create_sample_interval = 0,
                        .stack_sample_interval = 0,
                        .cpu_sample_interval = Duration::zero()});
}

Result<Measurement> our_group_page(std::size_t task_count) {
  return with_waiting_tasks(
      task_count, [](net::Network& network, Node& node) -> Result<Measurement> {
        const TimePoint begin = now();
        auto page = read_page(network, node.endpoints().admin, "/tasks?group=stack");
        if (!page) return page.error();
        return Measurement{.value = milliseconds(now() - begin)};
      });
}

Result<Measurement> our_longest_stop(std::size_t task_count, std::string_view target) {
  return with_waiting_tasks(
      task_count, [target](net::Network& network, Node& node) -> Result<Measurement> {
        Duration longest{};
        auto runner = coroutine::spawn("runner", [&] {
          for (auto last = thread_cpu_time(); coroutine::yield();) {
            const auto time = thread_cpu_time();
            longest = std::max<Duration>(longest, time - std::exchange(last, time));
          }
        });
        auto page = read_page(network, node.endpoints().admin, std::string(target));
        runner.cancel();
        static_cast<void>(runner.join(Deadline::never()));
        if (!page) return page.error();
        return Measurement{.value = milliseconds(longest)};
      });
}

}  // namespace corolane::bench
