// SPDX-License-Identifier: MIT
// A program that is a node and dies on request: crash_report_test runs it.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>

#include "coroutine/base/check.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/run/run_main.h"
#include "test/coroutine/broken_task.h"
#include "test/framework/crash.corolane.h"

namespace corolane::test {
namespace {

struct CrashConfig {
  static constexpr const char* section = "crasher";
};

void describe(config::Section& /*section*/, CrashConfig& /*value*/) {}

// Indexed by shard.
std::array<std::atomic<coroutine::Scheduler*>, 2> schedulers = {};

volatile int zero = 0;
volatile int sink = 0;

[[gnu::noinline]] void write_to_nothing() {
  volatile int* volatile nothing = nullptr;
  *nothing = 1;
}

[[gnu::noinline]] void call_nothing() {
  void (*volatile nothing)() = nullptr;
  nothing();
  sink = 1;
}

[[gnu::noinline]] void divide_by_zero() { sink = 7 / zero; }

[[gnu::noinline]] void run_nonsense() { __builtin_trap(); }

// Reads a mapped file beyond its end.
[[gnu::noinline]] void read_behind_the_end() {
  const int file = ::memfd_create("empty", MFD_CLOEXEC);
  void* const page = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  check(page != MAP_FAILED, "a file may be mapped");
  sink = *static_cast<volatile unsigned char*>(page);
}

[[gnu::noinline]] int recurse(int depth) {
  std::array<volatile char, 512> frame;
  frame[0] = static_cast<char>(depth);
  return zero != 0 ? 0 : recurse(depth + 1) + frame[0];
}

void crash(CrashRequest::Way way) {
  switch (way) {
    case CrashRequest::NULL_FUNCTION:
      return call_nothing();
    case CrashRequest::DIVISION:
      return divide_by_zero();
    case CrashRequest::INSTRUCTION:
      return run_nonsense();
    case CrashRequest::BUS:
      return read_behind_the_end();
    case CrashRequest::ABORT:
      std::abort();
    case CrashRequest::CHECK:
      return check(zero != 0, "a victim is healthy");
    case CrashRequest::TERMINATE:
      std::terminate();
    case CrashRequest::OVERFLOW:
      sink = recurse(0);
      return;
    default:
      return write_to_nothing();
  }
}

Breach breach_of(const CrashRequest& request) {
  switch (request.damage()) {
    case CrashRequest::TASK:
      return Breach::task;
    case CrashRequest::LIST:
      return Breach::list;
    case CrashRequest::STACK:
      return Breach::stack;
    default:
      return Breach::none;
  }
}

void crash_in_second_shard(CrashRequest::Way way) {
  coroutine::Scheduler* second = nullptr;
  for (const auto& scheduler : schedulers) {
    if (scheduler.load() != &coroutine::Scheduler::current()) second = scheduler.load();
  }
  second->post([way] {
    // Leaked: no task survives to join it.
    auto* const tasks = new coroutine::TaskGroup;
    check(tasks->spawn("on the second shard", [way] { crash(way); }).has_value(),
          "the task is spawned");
  });
}

class Victim : public VictimObject {
 public:
  Result<CrashReply> crash(const CrashRequest& request, rpc::Context&) override {
    if (request.place() == CrashRequest::CHILD_OF_OBJECT) {
      auto child = coroutine::spawn("child", [&] { test::crash(request.way()); });
      if (auto joined = child.join(Deadline::never()); !joined) return joined.error();
      return CrashReply();
    }
    test::crash(request.way());
    return CrashReply();
  }
};

class CrasherService : public CrasherBase {
 public:
  explicit CrasherService(framework::Shard& shard) : router_(shard.router()) {
    schedulers.at(shard.index()).store(&shard.scheduler());
  }

  Result<CrashReply> crash(const CrashRequest& request, rpc::Context&) override {
    coroutine::Event never("what never comes");
    coroutine::TaskGroup waiters;
    const auto wait = [&] { static_cast<void>(never.wait(Deadline::never())); };
    for (std::uint32_t i = 0; i < request.suspended_count(); ++i) {
      if (auto spawned = waiters.spawn("waiter", wait); !spawned) return spawned.error();
    }
    std::optional<BreakableTask> damaged;
    auto last = coroutine::spawn("damaged", [&] {
      damaged.emplace();
      wait();
    });
    if (auto yielded = coroutine::yield(); !yielded) return yielded.error();
    damaged->break_by(breach_of(request));

    switch (request.place()) {
      case CrashRequest::OBJECT:
      case CrashRequest::CHILD_OF_OBJECT:
        if (auto done = VictimClient(router_, "bob").crash(request); !done) return done.error();
        break;
      case CrashRequest::SECOND_SHARD:
        crash_in_second_shard(request.way());
        wait();
        break;
      case CrashRequest::TWO_SHARDS:
        crash_in_second_shard(request.way());
        test::crash(request.way());
        break;
      default:
        test::crash(request.way());
    }
    return CrashReply();
  }

 private:
  framework::Router& router_;
};

void set_up(framework::Node& node, const CrashConfig& /*config*/) {
  node.serve([](framework::Shard& shard) { return std::make_unique<CrasherService>(shard); });
  node.host<Victim>();
}

}  // namespace
}  // namespace corolane::test

int main(int argc, char** argv) {
  return corolane::framework::run_main(argc, argv, corolane::test::set_up);
}
