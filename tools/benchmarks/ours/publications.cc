// SPDX-License-Identifier: MIT
// An object publishes to subscribers on one or several shards of its node.
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/channel.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "framework/node/node.h"
#include "net/descriptor_limit.h"
#include "tools/benchmarks/counter.corolane.h"
#include "tools/benchmarks/network/socket.h"
#include "tools/benchmarks/ours/objects.h"
#include "tools/benchmarks/ours/one_process.h"
#include "tools/benchmarks/ours/run_in_task.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;

// Publishes the amount. Zero ends the readers.
class Herald : public HeraldObject {
 public:
  Result<AddReply> announce(const AddRequest& request, rpc::Context&) override {
    AddReply event;
    event.set_value(request.amount());
    publish(event);
    return event;
  }
};

AddRequest amount(std::int64_t value) {
  AddRequest request;
  request.set_amount(value);
  return request;
}

// The subscribers on all shards, as the task that publishes sees them. Belongs to its scheduler.
class Audience {
 public:
  explicit Audience(std::size_t reader_count)
      : reader_count_(reader_count), unread_(reader_count) {}

  // Called before each publication. The first one to be expected is the gap of the beginning.
  void expect_all() { unread_ = reader_count_; }

  // On any thread: one reader has read what is expected.
  void count_one() {
    if (--unread_ > 0) return;
    if (&coroutine::Scheduler::current() == &home_) {
      all_read_.pulse();
    } else {
      home_.post([this] { all_read_.pulse(); });
    }
  }

  Result<void> wait_for_all() {
    while (unread_ > 0) {
      if (auto waited = all_read_.wait(Deadline::after(10s)); !waited) return waited;
    }
    return {};
  }

 private:
  coroutine::Scheduler& home_ = coroutine::Scheduler::current();
  const std::size_t reader_count_;
  std::atomic<std::size_t> unread_;
  coroutine::Event all_read_{"all subscribers"};
};

void read_all(framework::Router& router, Audience& audience) {
  auto events = HeraldClient(router, "0").subscribe();
  for (;;) {
    const auto event = events.next(Deadline::never());
    if (!event || (!event->is_gap() && (*event)->value() == 0)) return;
    audience.count_one();
  }
}

Result<Measurement> time_announcements(framework::Router& router, Audience& audience) {
  HeraldClient herald(router, "0");
  if (auto begun = audience.wait_for_all(); !begun) return begun.error();
  auto measured = time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    watch.start();
    for (std::size_t i = 0; i < op_count; ++i) {
      audience.expect_all();
      if (auto announced = herald.announce(amount(1)); !announced) return announced.error();
      if (auto read = audience.wait_for_all(); !read) return read.error();
    }
    watch.stop();
    return op_count;
  });
  if (auto announced = herald.announce(amount(0)); !announced) return announced.error();
  return measured;
}

}  // namespace

Result<Measurement> our_publication(std::size_t reader_count, std::size_t shard_count) {
  if (shard_count > 1) use_all_cores();
  return with_network([&](net::Network& network) -> Result<Measurement> {
    framework::Node node(node_config("node", static_cast<std::uint32_t>(shard_count)), network,
                         framework::Log(framework::LogLevel::error));
    node.host<Herald>();
    if (auto started = node.start(); !started) return started.error();
    Audience audience(reader_count);
    coroutine::TaskGroup shards;
    auto spawned = shards.spawn("readers", [&]() -> Result<void> {
      return node.on_each_shard([&](framework::Shard& shard) -> Result<void> {
        coroutine::TaskGroup readers;
        for (std::size_t i = shard.index(); i < reader_count; i += shard_count) {
          auto reader = readers.spawn("reader", [&] { read_all(shard.router(), audience); });
          if (!reader) return reader.error();
        }
        return readers.join(Deadline::never());
      });
    });
    if (!spawned) return spawned.error();
    auto measured = time_announcements(node.router(), audience);
    if (auto joined = shards.join(Deadline::after(10s)); !joined) return joined.error();
    return measured;
  });
}

Result<Measurement> our_fan_out(std::size_t reader_count) {
  return run_in_task([&]() -> Result<Measurement> {
    std::size_t unread = 0;
    coroutine::Event all_read("all readers");
    std::deque<coroutine::Channel<int>> channels;
    coroutine::TaskGroup readers;
    for (std::size_t i = 0; i < reader_count; ++i) {
      channels.emplace_back(1);
      auto spawned = readers.spawn("reader", [&, &channel = channels.back()] {
        while (channel.receive(Deadline::never())) {
          if (--unread == 0) all_read.pulse();
        }
      });
      if (!spawned) return spawned.error();
    }
    auto measured =
        time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
          watch.start();
          for (std::size_t i = 0; i < op_count; ++i) {
            unread = reader_count;
            for (auto& channel : channels) {
              if (auto sent = channel.send(1, Deadline::never()); !sent) return sent.error();
            }
            while (unread > 0) {
              if (auto waited = all_read.wait(Deadline::never()); !waited) return waited.error();
            }
          }
          watch.stop();
          return op_count;
        });
    readers.cancel_and_join();
    return measured;
  });
}

Result<Measurement> our_socket_writes(std::size_t write_count) {
  net::raise_descriptor_limit();
  AddReply event;
  event.set_value(1);
  const std::string bytes = event.SerializeAsString();
  std::vector<std::array<Descriptor, 2>> pairs;
  for (std::size_t i = 0; i < write_count; ++i) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      return system_error("socketpair");
    }
    pairs.push_back({Descriptor(ends[0]), Descriptor(ends[1])});
  }
  std::array<std::byte, 4096> buffer{};
  return time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    for (std::size_t i = 0; i < op_count; ++i) {
      watch.start();
      for (const auto& pair : pairs) {
        auto written = write_now(pair[0].number(), std::as_bytes(std::span(bytes)));
        if (!written) return written.error();
        check(*written == bytes.size(), "the socket has room");
      }
      watch.stop();
      for (const auto& pair : pairs) {
        if (auto read = read_now(pair[1].number(), buffer); !read) return read.error();
      }
    }
    return op_count;
  });
}

}  // namespace corolane::bench
