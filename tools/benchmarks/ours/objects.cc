// SPDX-License-Identifier: MIT
// Nodes in the benchmark's own process that host counters.
#include "tools/benchmarks/ours/objects.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "framework/cluster/cluster.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "net/uv/uv_network.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"
#include "tools/benchmarks/counter.corolane.h"
#include "tools/benchmarks/ours/one_process.h"
#include "tools/benchmarks/ours/run_in_task.h"
#include "tools/benchmarks/ours/stores.h"
#include "tools/benchmarks/resident_memory.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using framework::LogLevel;
using framework::Node;
using framework::NodeConfig;

class Counter : public CounterObject {
 public:
  Result<AddReply> add(const AddRequest& request, rpc::Context&) override {
    value_ += request.amount();
    AddReply reply;
    reply.set_value(value_);
    return reply;
  }
  Result<AddReply> get(const AddRequest&, rpc::Context&) const override {
    AddReply reply;
    reply.set_value(state().value());
    return reply;
  }

 private:
  std::int64_t value_ = 0;  // Not in the state: the row excludes the cost of storing.
};

class PlainCounter : public PlainCounterBase {
 public:
  Result<AddReply> add(const AddRequest& request, rpc::Context&) override {
    value_ += request.amount();
    AddReply reply;
    reply.set_value(value_);
    return reply;
  }

 private:
  std::int64_t value_ = 0;
};

AddRequest add_request() {
  AddRequest request;
  request.set_amount(1);
  return request;
}

Result<std::unique_ptr<Node>> start_node(NodeConfig config, net::Network& network,
                                         Node::Parts parts = {}) {
  const LogLevel level = config.log_level;
  auto node =
      std::make_unique<Node>(std::move(config), network, framework::Log(level), std::move(parts));
  node->host<Counter>();
  if (auto started = node->start(); !started) return started.error();
  return node;
}

std::string id_of(std::size_t task, std::size_t round) {
  return std::to_string(task) + "-" + std::to_string(round);
}

// Returns the id of an object on that shard of two.
std::string id_on_shard(std::size_t shard) {
  const framework::PartitionHash hash(CounterObject::object_type().name);
  for (int i = 0;; ++i) {
    std::string id = std::to_string(i);
    if (hash(id) % 2 == shard) return id;
  }
}

Result<Measurement> time_same_shard() {
  return with_network([](net::Network& network) -> Result<Measurement> {
    auto node = start_node(node_config("one", 1), network);
    if (!node) return node.error();
    CounterClient counter((*node)->router(), "counter");
    const AddRequest request = add_request();
    return time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
      watch.start();
      for (std::size_t i = 0; i < op_count; ++i) {
        if (auto added = counter.add(request); !added) return added.error();
      }
      watch.stop();
      return op_count;
    });
  });
}

Result<Measurement> time_other_shard() {
  use_all_cores();
  return with_network([](net::Network& network) -> Result<Measurement> {
    auto node = start_node(node_config("two", 2), network);
    if (!node) return node.error();
    CounterClient counter((*node)->router(), id_on_shard(1));
    return time_calls(in_flight, [&](std::size_t) { return counter.get(add_request()); });
  });
}

// Two nodes on one loop, like the two ends of the plain call.
Result<Measurement> time_other_node() {
  return with_network([](net::Network& network) -> Result<Measurement> {
    auto store = std::make_shared<framework::MemoryStore>();
    auto directory = std::make_shared<framework::LocalDirectory>(1);
    auto a = start_node(node_config("a", 1), network, {.store = store, .directory = directory});
    if (!a) return a.error();
    auto b = start_node(node_config("b", 1), network, {.store = store, .directory = directory});
    if (!b) return b.error();
    // Waits until the second node has its share, and no partition moves any more.
    const auto owned_count = [&b] { return (*b)->cluster()->statistics().owned_count; };
    for (std::size_t before = 0; owned_count() == 0 || owned_count() != before;) {
      before = owned_count();
      // A virtual machine that has slept may wake on a core that it shares with another one, and
      // stay slow for seconds: this process turns instead.
      const Deadline settled = Deadline::after(300ms);
      while (!settled.has_passed()) {
        if (auto turned = coroutine::yield(); !turned) return turned.error();
      }
    }
    const auto view = (*a)->cluster()->view();
    const auto& owners = view->groups().front().owners;
    std::string id = "0";
    for (int i = 0;; ++i) {
      id = std::to_string(i);
      const auto* const owner =
          owners[framework::partition_of(CounterObject::object_type().name, id)].member;
      if (owner != nullptr && owner->name == "b") break;
    }
    CounterClient counter((*a)->router(), id);
    auto measured = time_calls(in_flight, [&](std::size_t) { return counter.get(add_request()); });
    static_cast<void>((*b)->stop(Deadline::after(1s)));
    static_cast<void>((*a)->stop(Deadline::after(1s)));
    return measured;
  });
}

// The service runs in a node, so that calls are logged, traced and counted here, too.
Result<Measurement> time_plain_on_one_loop() {
  return with_network([](net::Network& network) -> Result<Measurement> {
    Node node(node_config("plain", 1), network, framework::Log(LogLevel::error));
    node.serve(PlainCounter());
    if (auto started = node.start(); !started) return started.error();
    const net::Endpoint& endpoint = node.endpoints().clients;
    auto client =
        rpc::Client::connect(network, {endpoint.address, endpoint.port}, Deadline::after(1s));
    if (!client) return client.error();
    PlainCounterClient counter(**client);
    return time_calls(in_flight, [&](std::size_t) { return counter.add(add_request()); });
  });
}

Result<Measurement> time_plain_between_threads() {
  use_all_cores();
  std::atomic<std::uint16_t> port = 0;
  std::atomic<bool> is_over = false;
  std::thread thread([&] {
    net::EventLoop loop;
    static_cast<void>(run_in_task_on(loop, {}, [&]() -> Result<void> {
      net::UvNetwork network(loop);
      PlainCounter service;
      rpc::Server server(network);
      if (auto added = server.add(service); !added) return added;
      auto endpoint =
          server.listen({.address = "127.0.0.1", .port = 0}, {.door = rpc::Door::nodes});
      if (!endpoint) return endpoint.error();
      port = endpoint->port;
      while (!is_over) static_cast<void>(coroutine::sleep_for(10ms));
      return {};
    }));
  });
  auto measured = with_network([&](net::Network& network) -> Result<Measurement> {
    while (port == 0) static_cast<void>(coroutine::sleep_for(1ms));
    auto client = rpc::Client::connect(network, {"127.0.0.1", port}, Deadline::after(1s));
    if (!client) return client.error();
    PlainCounterClient counter(**client);
    return time_calls(in_flight, [&](std::size_t) { return counter.add(add_request()); });
  });
  is_over = true;
  thread.join();
  return measured;
}

}  // namespace

Result<Measurement> our_object_call(Distance distance) {
  switch (distance) {
    case Distance::same_shard:
      return time_same_shard();
    case Distance::other_shard:
      return time_other_shard();
    case Distance::other_node:
      break;
  }
  return time_other_node();
}

Result<Measurement> our_plain_call(Distance distance) {
  return distance == Distance::other_shard ? time_plain_between_threads()
                                           : time_plain_on_one_loop();
}

Result<Measurement> our_object_memory(std::size_t count) {
  if (auto enough = need_free_memory(count, 2'000); !enough) return enough.error();
  return with_network([count](net::Network& network) -> Result<Measurement> {
    auto node = start_node(node_config("one", 1), network);
    if (!node) return node.error();
    // Nothing is stored, so the memory store stays empty.
    const std::size_t before = resident_bytes();
    for (std::size_t i = 0; i < count; ++i) {
      if (auto got = CounterClient((*node)->router(), std::to_string(i)).get({}); !got) {
        return got.error();
      }
    }
    return bytes_each(before, count);
  });
}

Result<Measurement> our_activation(StoreUsed used) {
  return with_store(
      used,
      [](net::Network& network, std::shared_ptr<framework::Store> store) -> Result<Measurement> {
        auto node = start_node(node_config("one", 1), network, {.store = std::move(store)});
        if (!node) return node.error();
        return time_by_the_clock([&](std::size_t task, std::size_t round) {
          return CounterClient((*node)->router(), id_of(task, round)).get({});
        });
      });
}

Result<Measurement> our_seal(StoreUsed used) {
  return with_store(used, [](net::Network&, const std::shared_ptr<framework::Store>& store) {
    return time_by_the_clock([&](std::size_t task, std::size_t round) {
      const std::string id = id_of(task, round);
      return store->seal({.type = "bench.Counter", .id = id}, 1, Deadline::after(10s));
    });
  });
}

}  // namespace corolane::bench
