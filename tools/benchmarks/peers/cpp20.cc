// SPDX-License-Identifier: MIT
// A minimal scheduler of C++20 coroutines: a ring of handles and a loop that resumes them. They
// have no stack, so only a coroutine can call a function that suspends.
#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "tools/benchmarks/order.h"
#include "tools/benchmarks/peers/peer.h"
#include "tools/benchmarks/resident_memory.h"

namespace corolane::bench {
namespace {

// Ready coroutines, first in, first out. The ring grows to a power of two that holds them all.
class ReadyRing {
 public:
  bool empty() const { return head_ == tail_; }
  void push(std::coroutine_handle<> handle) {
    if (tail_ - head_ == slots_.size()) grow();
    slots_[tail_++ & (slots_.size() - 1)] = handle;
  }
  std::coroutine_handle<> pop() { return slots_[head_++ & (slots_.size() - 1)]; }

 private:
  void grow() {
    std::vector<std::coroutine_handle<>> larger(slots_.size() * 2);
    for (std::size_t index = head_; index != tail_; ++index) {
      larger[index & (larger.size() - 1)] = slots_[index & (slots_.size() - 1)];
    }
    slots_ = std::move(larger);
  }

  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::vector<std::coroutine_handle<>> slots_{1024};
};

ReadyRing ready;

void run_ready() {
  while (!ready.empty()) ready.pop().resume();
}

// Moves the coroutine to the end of the ring.
struct Yield {
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { ready.push(handle); }
  void await_resume() const {}
};

// A child coroutine. It starts when it is awaited or made ready, and resumes its awaiting parent at
// its end.
template <typename T>
class Child {
 public:
  struct promise_type {
    Child get_return_object() { return Child(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() { return {}; }
    auto final_suspend() noexcept {
      struct ResumeParent {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(Handle self) noexcept {
          return self.promise().parent;
        }
        void await_resume() noexcept {}
      };
      return ResumeParent{};
    }
    void return_value(T value) { result = std::move(value); }
    void unhandled_exception() { std::terminate(); }

    T result{};
    std::coroutine_handle<> parent = std::noop_coroutine();
  };
  using Handle = std::coroutine_handle<promise_type>;

  explicit Child(Handle handle) : handle_(handle) {}
  Child(Child&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Child() {
    if (handle_) handle_.destroy();
  }

  void spawn() { ready.push(handle_); }
  bool is_done() const { return handle_.done(); }

  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) {
    handle_.promise().parent = parent;
    return handle_;
  }
  T await_resume() { return std::move(handle_.promise().result); }

 private:
  friend class Join;
  Handle handle_;
};

// Waits for a spawned child.
class Join {
 public:
  explicit Join(Child<int>& child) : child_(child) {}
  bool await_ready() const { return child_.is_done(); }
  void await_suspend(std::coroutine_handle<> parent) { child_.handle_.promise().parent = parent; }
  int await_resume() { return child_.await_resume(); }

 private:
  Child<int>& child_;
};

// A channel for one value, one sender and one receiver.
class Slot {
 public:
  auto send(int value) {
    struct Send {
      bool await_ready() const { return !slot.full_; }
      void await_suspend(std::coroutine_handle<> sender) { slot.sender_ = sender; }
      void await_resume() { slot.put(value); }
      Slot& slot;
      int value;
    };
    return Send{*this, value};
  }

  auto receive() {
    struct Receive {
      bool await_ready() const { return slot.full_; }
      void await_suspend(std::coroutine_handle<> receiver) { slot.receiver_ = receiver; }
      int await_resume() { return slot.take(); }
      Slot& slot;
    };
    return Receive{*this};
  }

 private:
  void put(int value) {
    value_ = value;
    full_ = true;
    if (receiver_) ready.push(std::exchange(receiver_, nullptr));
  }
  int take() {
    full_ = false;
    if (sender_) ready.push(std::exchange(sender_, nullptr));
    return value_;
  }

  int value_ = 0;
  bool full_ = false;
  std::coroutine_handle<> sender_;
  std::coroutine_handle<> receiver_;
};

Child<int> count_and_yield_until(std::uint64_t& step_count, const bool& stopped) {
  while (!stopped) {
    ++step_count;
    co_await Yield{};
  }
  co_return 0;
}

Child<int> count_once(std::uint64_t& step_count) {
  ++step_count;
  co_return 1;
}

Child<int> suspend_for_ever(std::uint64_t& step_count) {
  ++step_count;
  co_await std::suspend_always{};
  co_return 0;
}

Result<Measurement> yield(Ring ring) {
  std::uint64_t step_count = 0;
  std::uint64_t expected_step_count = 0;
  bool stopped = false;
  std::vector<Child<int>> children;
  for (std::size_t index = 0; index < ring.count; ++index) {
    children.push_back(count_and_yield_until(step_count, stopped));
  }
  for (const std::size_t turn : turn_order(ring.count, ring.random)) children[turn].spawn();
  auto measured = time_batches([&](Stopwatch& watch, std::size_t op_count) {
    watch.start();
    for (std::size_t index = 0; index < op_count; ++index) ready.pop().resume();
    watch.stop();
    expected_step_count += op_count;
    return op_count;
  });
  check(step_count == expected_step_count, "every step was taken");
  stopped = true;
  run_ready();
  return measured;
}

// There is no pool: frames come from malloc, which is cold the first time.
Result<Measurement> create(std::size_t count, Warmth warmth) {
  std::vector<Child<int>> children;
  children.reserve(count);
  std::uint64_t step_count = 0;
  const auto create_all = [&] {
    for (std::size_t index = 0; index < count; ++index) {
      children.push_back(count_once(step_count));
      children.back().spawn();
    }
    run_ready();
    children.clear();
  };
  if (warmth == Warmth::cold) {
    // Measures a single batch: a process is cold only once.
    Stopwatch watch;
    watch.start();
    create_all();
    watch.stop();
    return Measurement{
        .value = static_cast<double>(watch.elapsed().count()) / static_cast<double>(count),
        .allocations_per_op =
            static_cast<double>(watch.allocation_count()) / static_cast<double>(count)};
  }
  return time_batches([&](Stopwatch& watch, std::size_t op_count) {
    std::size_t performed_count = 0;
    watch.start();
    for (; performed_count < op_count; performed_count += count) create_all();
    watch.stop();
    return performed_count;
  });
}

Result<Measurement> memory(std::size_t count) {
  const std::size_t bytes_before = resident_bytes();
  std::vector<Child<int>> children;
  children.reserve(count);
  std::uint64_t step_count = 0;
  for (std::size_t index = 0; index < count; ++index) {
    children.push_back(suspend_for_ever(step_count));
    children.back().spawn();
  }
  run_ready();
  check(step_count == count, "every coroutine was entered");
  return bytes_each(bytes_before, count);
}

// Runs `body` as a coroutine that performs the operations of a batch.
Result<Measurement> time_inside(Child<int> (*body)(std::size_t op_count)) {
  return time_batches([&](Stopwatch& watch, std::size_t op_count) {
    Child<int> root = body(op_count);
    root.spawn();
    watch.start();
    run_ready();
    watch.stop();
    check(root.is_done(), "the measuring coroutine ended");
    return op_count;
  });
}

Child<int> spawn_and_join(std::size_t op_count) {
  std::uint64_t step_count = 0;
  for (std::size_t index = 0; index < op_count; ++index) {
    Child<int> child = count_once(step_count);
    child.spawn();
    co_await Join(child);
  }
  check(step_count == op_count, "every child ran");
  co_return 0;
}

Child<int> answer(Slot& there, Slot& back) {
  for (;;) {
    const int value = co_await there.receive();
    if (value < 0) co_return 0;
    co_await back.send(value + 1);
  }
}

Child<int> play(std::size_t op_count) {
  Slot there;
  Slot back;
  Child<int> partner = answer(there, back);
  partner.spawn();
  for (std::size_t index = 0; index < op_count; ++index) {
    co_await there.send(1);
    check(co_await back.receive() == 2, "the partner answered");
  }
  co_await there.send(-1);
  co_await Join(partner);
  co_return 0;
}

Child<int> give_one() { co_return 1; }

Child<int> await_children(std::size_t op_count) {
  std::size_t sum = 0;
  for (std::size_t index = 0; index < op_count; ++index) {
    sum += static_cast<std::size_t>(co_await give_one());
  }
  check(sum == op_count, "every child ran");
  co_return 0;
}

Result<Measurement> spawn_join() { return time_inside(spawn_and_join); }
Result<Measurement> pingpong() { return time_inside(play); }
Result<Measurement> await() { return time_inside(await_children); }

}  // namespace

constexpr Peer cpp20_peer = {.name = "cpp20",
                             .yield = yield,
                             .create = create,
                             .memory = memory,
                             .spawn_join = spawn_join,
                             .pingpong = pingpong,
                             .await = await};

}  // namespace corolane::bench
