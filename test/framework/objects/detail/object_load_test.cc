// SPDX-License-Identifier: MIT
// The CPU time of objects and their partitions, on a thread with a meter of its own.
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <string>
#include <thread>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/detail/partition_loads.h"
#include "framework/store/memory_store.h"
#include "net/uv/event_loop.h"
#include "test/framework/counter.h"
#include "test/framework/stage.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// Computes for the milliseconds that it adds, and yields in the middle.
class Spinner final : public test::Counter {
 public:
  Result<test::CounterReply> add(const test::AddRequest& request, rpc::Context& context) override {
    compute(std::chrono::milliseconds(request.amount()) / 2);
    static_cast<void>(coroutine::yield());
    compute(std::chrono::milliseconds(request.amount()) / 2);
    return Counter::add(request, context);
  }

 private:
  static Duration cpu() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
  static void compute(Duration time) {
    const Duration end = cpu() + time;
    while (cpu() < end) {
    }
  }
};

TEST(ObjectLoadTest, WhatAnObjectComputesIsChargedToItAndToItsPartition) {
  bool is_measured = false;
  // A busy one and one beside it: the tasks of both take turns.
  Duration busy{};
  Duration idle{};
  Duration of_partition{};
  double cores = 0;
  std::thread shard([&] {
    net::EventLoop loop;
    coroutine::Scheduler scheduler(loop, {.on_cpu_charge = ObjectHost::charge_running_object});
    const auto ran = scheduler.run("shard", [&] {
      is_measured = scheduler.statistics().measures_cpu;
      MemoryStore store;
      test::Stage stage(store);
      HostedType& type = stage.add_as<Spinner>(test::Counter::object_type());
      stage.start();
      const auto call = [&](const std::string& id, int milliseconds) {
        EXPECT_TRUE(test::CounterClient(stage.router, id).add(test::add_request(milliseconds)));
      };
      auto beside = coroutine::spawn("beside", [&] { call("idle", 2); });
      call("busy", 200);
      EXPECT_TRUE(beside.join(Deadline::never()));
      busy = type.find("busy")->cpu.sum();
      idle = type.find("idle")->cpu.sum();
      of_partition = type.loads.cpu(type.partition_of("busy"));
      type.loads.look(400ms);
      cores = type.loads.cores(type.partition_of("busy"));
    });
    EXPECT_TRUE(ran) << ran;
  });
  shard.join();
  if (!is_measured) GTEST_SKIP() << "signals come too late";
  // The meter looks at the ticks of the kernel.
  EXPECT_GE(busy, 150ms);
  EXPECT_LE(idle, 50ms);
  EXPECT_GE(of_partition, busy);
  EXPECT_GE(cores, 0.35);
}

TEST(PartitionLoadsTest, ALookTellsWhatWasComputedSinceTheLastOne) {
  PartitionLoads loads(partition_count_min);
  loads.charge(17, 3'000'000'000);
  EXPECT_EQ(loads.cores(17), 0.0);
  loads.look(10s);
  EXPECT_NEAR(loads.cores(17), 0.3, 1e-6);
  loads.charge(17, 500'000'000);
  loads.charge(18, 1'000'000'000);
  loads.look(1s);
  EXPECT_NEAR(loads.cores(17), 0.5, 1e-6);
  EXPECT_NEAR(loads.cores(18), 1.0, 1e-6);
  loads.look(1s);
  EXPECT_EQ(loads.cores(18), 0.0);
  EXPECT_EQ(loads.cpu(17), 3'500ms);
}

}  // namespace
}  // namespace corolane::framework::detail
