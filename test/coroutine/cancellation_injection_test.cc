// SPDX-License-Identifier: MIT
// Cancels a mixed workload at each suspension point in turn: the ended waits report it, no other
// task waits in vain, nothing is lost and nothing is left over.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "coroutine/detail/task_frame.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/channel.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/for_each.h"
#include "coroutine/sync/future.h"
#include "coroutine/sync/latch.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/sync/once.h"
#include "coroutine/sync/race.h"
#include "coroutine/sync/select.h"
#include "coroutine/sync/semaphore.h"
#include "coroutine/sync/shared_mutex.h"
#include "coroutine/sync/ticker.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/sanitizers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

// Counts the suspensions of a workload's tasks, and cancels the task that suspends at a given point
// before anything else of the workload has run. A suspension is noticed by the next to run: another
// task, when its own suspension is over, or the loop.
class Injector {
 public:
  // Points are counted from 1; at 0 no task is cancelled.
  Injector(std::size_t point, std::size_t other_point) : point_(point), other_point_(other_point) {}
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;
  ~Injector() {
    while (is_posted_) EXPECT_TRUE(sleep_for(1ns));
  }

  std::size_t count() const { return count_; }

  // The first local of each task of the workload.
  class Part {
   public:
    explicit Part(Injector& injector) : injector_(injector) { injector_.runs(&self()); }
    ~Part() {
      injector_.runs(&self());
      injector_.running_ = nullptr;
      if (injector_.victim_ == &self()) injector_.victim_ = nullptr;
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Injector& injector_;
  };

  // Wraps a call that may suspend.
  template <typename F>
  auto around(F&& call) {
    runs(&self());
    if (!std::exchange(is_posted_, true)) {
      Scheduler::current().post([this] {
        is_posted_ = false;
        runs(nullptr);
      });
    }
    struct Return {
      Injector& injector;
      ~Return() { injector.runs(&self()); }
    } returns{*this};
    return call();
  }

  // Wraps a call that cancellation ends: expects it to report a cancellation during the call.
  template <typename F>
  auto around_cancellable(F&& call) {
    const bool was_cancelled = victim_ == &self();
    auto result = around(std::forward<F>(call));
    const bool says_so = says_cancelled(result);
    EXPECT_TRUE(says_so || was_cancelled || victim_ != &self());
    EXPECT_TRUE(!says_so || self().is_cancelled());
    return result;
  }

 private:
  using TaskControl = detail::TaskControl;

  template <typename T>
  static bool says_cancelled(const Result<T>& result) {
    return !result && result.error().code() == Code::cancelled;
  }
  static bool says_cancelled(bool succeeded) { return !succeeded; }

  static TaskControl& self() { return detail::TaskAccess::running(); }

  // Null stands for the loop.
  void runs(TaskControl* task) {
    if (running_ != nullptr && running_ != task) {
      ++count_;
      if (count_ == point_ || count_ == other_point_) {
        victim_ = running_;
        victim_->cancel();
      }
    }
    running_ = task;
  }

  const std::size_t point_;
  const std::size_t other_point_;
  std::size_t count_ = 0;
  TaskControl* running_ = nullptr;  // A task of the workload, as last reported.
  TaskControl* victim_ = nullptr;   // The last victim, unless it has ended.
  bool is_posted_ = false;
};

// Runs an action however a task ends.
template <typename F>
class [[nodiscard]] Finally {
 public:
  explicit Finally(F action) : action_(std::move(action)) {}
  ~Finally() { action_(); }
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;

 private:
  F action_;
};

// Tasks that depend on one another, and all end when one of them does.
class Workload {
 public:
  explicit Workload(std::size_t point, std::size_t other_point = 0)
      : injector_(point, other_point) {}

  // Returns the number of suspension points.
  std::size_t run() {
    start("producer", &Workload::produce);
    start("left worker", &Workload::work);
    start("right worker", &Workload::work);
    start("consumer", &Workload::consume);
    start("watcher", &Workload::watch);
    start("listener", &Workload::listen);
    start("writer", &Workload::write);
    start("left reader", &Workload::read);
    start("right reader", &Workload::read);
    start("asker", &Workload::ask);
    start("answerer", &Workload::answer);
    start("visitor", &Workload::visit);
    start("parent", &Workload::raise);
    start("closer", &Workload::close);
    start("fanner", &Workload::fan_out);
    start("racer", &Workload::try_ways);
    start("left loader", &Workload::load);
    start("right loader", &Workload::load);
    start("clock", &Workload::tick);
    EXPECT_TRUE(group_.join(Deadline::never()));
    expect_nothing_left();
    return injector_.count();
  }

 private:
  void start(std::string_view name, void (Workload::*part)()) {
    EXPECT_TRUE(group_.spawn(name, [this, part] {
      const Injector::Part runs(injector_);
      (this->*part)();
    }));
  }
  template <typename F>
  auto point(F&& call) {
    return injector_.around_cancellable(std::forward<F>(call));
  }
  bool pause() {
    return point([] { return yield(); }) && point([] { return sleep_for(1ms); });
  }

  void produce() {
    const Finally close_work([this] { work_.close(); });
    for (int value = 0; value < 12; ++value) {
      if (!point([&] { return work_.send(value, deadline_); })) return;
      ++sent_count_;
      if (!point([] { return yield(); })) return;
    }
  }

  void work() {
    const Finally leave([this] {
      workers_.count_down();
      if (!workers_.try_wait()) return;
      work_.close();
      results_.close();
    });
    while (true) {
      auto next = point([&] { return select(stop_.waiting(), work_.receiving(), deadline_); });
      if (!next || next->index() == 0) return;
      const auto value = std::get<1>(*next);
      if (!value) return;
      ++worked_count_;
      if (!point([&] { return slots_.acquire(deadline_); })) return;
      const Finally release([this] { slots_.release(); });
      if (!point([] { return sleep_for(1ms); })) return;
      if (!injector_.around([&] { return results_.send(*value, deadline_); })) return;
      ++result_count_;
    }
  }

  void consume() {
    const Finally leave([this] {
      is_consumed_ = true;
      results_.close();
      stop_.set();
      changed_.pulse();
    });
    while (true) {
      const auto value = injector_.around([&] { return results_.receive(deadline_); });
      if (!value) return;
      ++consumed_count_;
      const auto place = point([&] { return places_.hold(deadline_); });
      if (!place || !pause()) return;
      injector_.around([&] { mutex_.lock(); });
      const std::unique_lock lock(mutex_, std::adopt_lock);
      changed_.pulse_one();
    }
  }

  void watch() {
    if (!point([&] { return mutex_.try_lock_until(deadline_); })) return;
    std::unique_lock lock(mutex_, std::adopt_lock);
    while (consumed_count_ < 3 && !is_consumed_) {
      lock.unlock();
      const auto waited = point([&] { return changed_.wait(deadline_); });
      injector_.around([&] { lock.lock(); });
      if (!waited) return;
    }
    pause();
  }

  void listen() {
    {
      const auto place = point([&] { return places_.hold(deadline_); });
      if (!place || !pause()) return;
    }
    static_cast<void>(point([&] { return workers_.wait(deadline_); }));
  }

  void write() {
    for (int round = 0; round < 3; ++round) {
      injector_.around([&] { shared_mutex_.lock(); });
      const std::unique_lock lock(shared_mutex_, std::adopt_lock);
      EXPECT_EQ(reader_count_, 0);
      EXPECT_EQ(writer_count_++, 0);
      const bool goes_on = pause();
      EXPECT_EQ(--writer_count_, 0);
      if (!goes_on) return;
    }
  }

  void read() {
    for (int round = 0; round < 3; ++round) {
      if (!point([&] { return shared_mutex_.try_lock_shared_until(deadline_); })) return;
      ++reader_count_;
      const bool goes_on = pause();
      EXPECT_EQ(writer_count_, 0);
      --reader_count_;
      shared_mutex_.unlock_shared();
      if (!goes_on) return;
    }
  }

  void ask() {
    const Finally close_questions([this] { questions_.close(); });
    for (int question = 0; question < 3; ++question) {
      Promise<int> promise;
      auto future = promise.get_future();
      const auto sent =
          injector_.around([&] { return questions_.send(std::move(promise), deadline_); });
      if (!sent) return;
      const auto answer = injector_.around([&] { return future.get(deadline_); });
      if (!answer) return;
    }
  }

  void answer() {
    const Finally break_promises([this] {
      questions_.close();
      while (questions_.try_receive()) continue;
    });
    while (true) {
      auto promise = injector_.around([&] { return questions_.receive(deadline_); });
      if (!promise || !pause()) return;
      promise->set_value(42);
    }
  }

  void visit() {
    const auto child = [this](Duration duration) {
      return spawn("child", [this, duration] {
        const Injector::Part runs(injector_);
        return point([&] { return sleep_for(duration); });
      });
    };
    auto fast = child(1ms);
    auto slow = child(2ms);
    if (!point([&] { return select(slow.joining(), fast.joining(), deadline_); })) return;
    static_cast<void>(injector_.around([&] { return slow.join(deadline_); }));
    auto slower = child(3ms);
    static_cast<void>(injector_.around([&] { return slower.join(deadline_); }));
  }

  void raise() {
    TaskGroup children;
    for (int number = 0; number < 2; ++number) {
      EXPECT_TRUE(children.spawn("child", [this] {
        const Injector::Part runs(injector_);
        pause();
      }));
    }
    static_cast<void>(point([&] { return children.join(deadline_); }));
  }

  void close() {
    if (!point([&] { return stop_.wait(deadline_); })) return;
    static_cast<void>(point([&] { return workers_.wait(deadline_); }));
  }

  void fan_out() {
    const auto values = injector_.around([&] {
      return for_each(
          std::views::iota(0, 3), {.concurrency = 2},
          [this](int value) -> Result<int> {
            const Injector::Part runs(injector_);
            if (auto slept = point([] { return sleep_for(1ms); }); !slept) return slept.error();
            return value;
          },
          deadline_);
    });
    if (values) {
      EXPECT_EQ(*values, (std::vector{0, 1, 2}));
    }
  }

  void try_ways() {
    int running_count = 0;
    const auto won = injector_.around([&] {
      return race(
          std::views::iota(1, 4), {.head_start = 1ms},
          [&](int way) -> Result<int> {
            const Injector::Part runs(injector_);
            ++running_count;
            const Finally leave([&] { --running_count; });
            if (auto slept = point([&] { return sleep_for(way * 2ms); }); !slept) {
              return slept.error();
            }
            return way;
          },
          deadline_);
    });
    EXPECT_EQ(running_count, 0);
    if (won) {
      EXPECT_GE(*won, 1);
    }
  }

  void load() {
    const auto loaded = injector_.around([&] {
      return once_.get(
          7,
          [this]() -> Result<int> {
            if (auto slept = point([] { return sleep_for(1ms); }); !slept) return slept.error();
            return ++load_count_;
          },
          deadline_);
    });
    if (loaded) {
      EXPECT_EQ(*loaded, 1);
    }
  }

  void tick() {
    Ticker ticker(1ms);
    for (int count = 0; count < 2; ++count) {
      if (!point([&] { return ticker.next(deadline_); })) return;
    }
  }

  void expect_nothing_left() {
    // No task has waited until the deadline, which would mean a lost wake-up.
    EXPECT_LT(now(), deadline_.time());
    EXPECT_EQ(sent_count_, worked_count_ + static_cast<int>(work_.size()));
    EXPECT_EQ(result_count_, consumed_count_ + static_cast<int>(results_.size()));
    EXPECT_EQ(slots_.count(), 1u);
    EXPECT_EQ(places_.count(), 2u);
    EXPECT_EQ(once_.find(7) != nullptr, load_count_ == 1);
    EXPECT_TRUE(workers_.try_wait());
    EXPECT_TRUE(mutex_.try_lock());
    mutex_.unlock();
    EXPECT_TRUE(shared_mutex_.try_lock());
    shared_mutex_.unlock();
  }

  Injector injector_;
  const Deadline deadline_ = Deadline::after(1h);
  Channel<int> work_{1};
  Channel<int> results_{1};
  Channel<Promise<int>> questions_{1};
  Event stop_;
  Semaphore slots_{1};
  Latch workers_{2};
  Mutex mutex_;
  Event changed_;
  SharedMutex shared_mutex_;
  Semaphore places_{2};
  Once<int, int> once_;
  int load_count_ = 0;
  bool is_consumed_ = false;
  int sent_count_ = 0;
  int worked_count_ = 0;
  int result_count_ = 0;
  int consumed_count_ = 0;
  int reader_count_ = 0;
  int writer_count_ = 0;
  TaskGroup group_;
};

struct Inventory {
  std::size_t tasks = Scheduler::current().statistics().task_count;
  std::size_t stacks = Scheduler::current().stacks().statistics().in_use_count;
  std::size_t timers = Scheduler::current().timers().armed_count();

  friend bool operator==(const Inventory&, const Inventory&) = default;
};

TEST(CancellationInjectionTest, NothingLeaksOrHangsWhereverATaskIsCancelled) {
  const Inventory before;
  const std::size_t point_count = Workload(0).run();
  std::printf("[   POINTS ] %zu\n", point_count);
  EXPECT_GE(point_count, 100u);
  for (std::size_t point = 1; point <= point_count && !HasFailure(); ++point) {
    SCOPED_TRACE("cancelled at suspension point " + std::to_string(point));
    EXPECT_GE(Workload(point).run(), point);
    EXPECT_EQ(Inventory(), before);
  }
}

TEST(CancellationInjectionTest, NothingLeaksOrHangsAfterTwoCancellations) {
  const Inventory before;
  const std::size_t point_count = Workload(0).run();
  // Each pair of points; sanitizers and valgrind take too long for all of them.
  const std::size_t step = test::under_slow_watch() ? 29 : 1;
  for (std::size_t point = 1; point <= point_count; ++point) {
    for (std::size_t later = point + 1; later <= point_count && !HasFailure(); later += step) {
      SCOPED_TRACE("cancelled at suspension points " + std::to_string(point) + " and " +
                   std::to_string(later));
      Workload(point, later).run();
      EXPECT_EQ(Inventory(), before);
    }
  }
}

}  // namespace
}  // namespace corolane::coroutine
