// SPDX-License-Identifier: MIT
// Objects that are stored before they reply, and that call others with their outbox.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "coroutine/sync/event.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "tools/benchmarks/counter.corolane.h"
#include "tools/benchmarks/ours/objects.h"
#include "tools/benchmarks/ours/one_process.h"
#include "tools/benchmarks/ours/stores.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using framework::Node;

// The deposits that have arrived by an outbox, by the number of the account.
struct Arrivals {
  std::array<std::size_t, in_flight> counts = {};
  coroutine::Event news{"a deposit"};
};

class Account : public AccountObject {
 public:
  explicit Account(Arrivals& arrivals) : arrivals_(arrivals) {}

  Result<AddReply> deposit(const AddRequest& request, rpc::Context&) override {
    return add(request.amount());
  }
  Result<Received> receive(const AddRequest& request, rpc::Context&) override {
    static_cast<void>(add(request.amount()));
    ++arrivals_.counts[std::stoul(id())];
    arrivals_.news.pulse();
    return Received();
  }
  Result<AddReply> transfer(const TransferRequest& request, rpc::Context&) override {
    AddRequest add_request;
    add_request.set_amount(request.amount());
    if (auto put = AccountClient(outbox(), request.to()).receive(add_request); !put) {
      return put.error();
    }
    return add(-request.amount());
  }

 private:
  AddReply add(std::int64_t amount) {
    change().set_value(state().value() + amount);
    AddReply reply;
    reply.set_value(state().value());
    return reply;
  }

  Arrivals& arrivals_;
};

AddRequest one() {
  AddRequest request;
  request.set_amount(1);
  return request;
}

Result<std::unique_ptr<Node>> start_node(net::Network& network, Arrivals& arrivals,
                                         std::shared_ptr<framework::Store> store) {
  auto node = std::make_unique<Node>(node_config("one", 1), network,
                                     framework::Log(framework::LogLevel::error),
                                     Node::Parts{.store = std::move(store)});
  node->host<Account>([&](framework::Shard&) { return std::make_unique<Account>(arrivals); });
  if (auto started = node->start(); !started) return started.error();
  return node;
}

std::string sender(std::size_t pair) { return "sender " + std::to_string(pair); }

}  // namespace

Result<Measurement> our_durable_call(StoreUsed used) {
  Arrivals arrivals;
  return with_store(
      used,
      [&](net::Network& network, std::shared_ptr<framework::Store> store) -> Result<Measurement> {
        auto node = start_node(network, arrivals, std::move(store));
        if (!node) return node.error();
        const auto deposit = [&](std::size_t task, std::size_t) {
          return AccountClient((*node)->router(), std::to_string(task)).deposit(one());
        };
        for (std::size_t task = 0; task < in_flight; ++task) {
          if (auto activated = deposit(task, 0); !activated) return activated.error();
        }
        return time_by_the_clock(deposit);
      });
}

Result<Measurement> our_write(StoreUsed used) {
  return with_store(
      used,
      [](net::Network&, const std::shared_ptr<framework::Store>& store) -> Result<Measurement> {
        const auto write = [&](std::size_t task, std::size_t round) {
          const std::string id = std::to_string(task);
          // As large as the record of an account.
          return store->write({.type = "corolane.bench.Account", .id = id}, 1, round,
                              {.bytes = "\x0a\x02\x08\x01"}, Deadline::after(10s));
        };
        for (std::size_t task = 0; task < in_flight; ++task) {
          const std::string id = std::to_string(task);
          auto sealed =
              store->seal({.type = "corolane.bench.Account", .id = id}, 1, Deadline::after(10s));
          if (!sealed) return sealed.error();
          if (auto written = write(task, 0); !written) return written.error();
        }
        return time_by_the_clock(
            [&](std::size_t task, std::size_t round) { return write(task, round + 1); });
      });
}

// Each pair waits for one delivery before it makes the next call.
Result<Measurement> our_outbox_call() {
  Arrivals arrivals;
  return with_network([&](net::Network& network) -> Result<Measurement> {
    auto node = start_node(network, arrivals, std::make_shared<framework::MemoryStore>());
    if (!node) return node.error();
    return time_calls(in_flight, [&](std::size_t pair) -> Result<void> {
      const std::size_t before = arrivals.counts[pair];
      TransferRequest request;
      request.set_to(std::to_string(pair));
      request.set_amount(1);
      auto sent = AccountClient((*node)->router(), sender(pair)).transfer(request);
      if (!sent) return sent.error();
      while (arrivals.counts[pair] == before) {
        if (auto waited = arrivals.news.wait(Deadline::after(10s)); !waited) return waited;
      }
      return {};
    });
  });
}

Result<Measurement> our_call_pair() {
  Arrivals arrivals;
  return with_network([&](net::Network& network) -> Result<Measurement> {
    auto node = start_node(network, arrivals, std::make_shared<framework::MemoryStore>());
    if (!node) return node.error();
    return time_calls(in_flight, [&](std::size_t pair) -> Result<void> {
      auto withdrawn = AccountClient((*node)->router(), sender(pair)).deposit(one());
      if (!withdrawn) return withdrawn.error();
      auto received = AccountClient((*node)->router(), std::to_string(pair)).receive(one());
      if (!received) return received.error();
      return {};
    });
  });
}

}  // namespace corolane::bench
