// SPDX-License-Identifier: MIT
// The handler calls only what signal-safety(7) allows: the fault may happen inside any function, an
// allocation or printf() included.
#include "coroutine/detail/overflow_watch.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>

#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/stack/detail/unwind.h"
#include "coroutine/stack/fault_guard.h"

namespace corolane::coroutine::detail {
namespace {

constinit struct sigaction previous_action = {};

// The requested size, rounded up to a power of two; above it lies some room for the colour.
std::size_t size_of(const Stack& stack) {
  return std::bit_floor(static_cast<std::size_t>(stack.top - stack.base));
}

// The number of calls that repeat down the stack; zero: it is no recursion. The innermost calls may
// be others, since any leaf may be the one that does not fit.
std::size_t repeating_calls(std::span<const std::uintptr_t> addresses) {
  constexpr std::size_t calls_max = 8;
  constexpr std::size_t repetitions_min = 6;
  for (std::size_t begin = 1; begin <= calls_max; ++begin) {
    for (std::size_t count = 1; count <= calls_max; ++count) {
      if (addresses.size() < begin + repetitions_min * count) continue;
      const auto some = addresses.subspan(begin, repetitions_min * count);
      if (std::ranges::equal(some.first(some.size() - count), some.subspan(count))) return count;
    }
  }
  return 0;
}

std::size_t recursion_of(void* context) {
  std::size_t count = 0;
  FaultGuard::run([&] {
    std::array<std::uintptr_t, 64> addresses;
    count = repeating_calls(std::span(addresses).first(unwind_crashed(context, addresses)));
  });
  return count;
}

// Returns the stack that the task asked for, and a reserve for what its function calls.
std::size_t enough_bytes(const TaskControl& task, const void* address, const void* context) {
  constexpr std::size_t reserve_bytes_min = 8 * 1024;
  const auto* lowest = static_cast<const std::byte*>(address);
  FaultGuard::run([&] { lowest = std::min(lowest, stack_end_needed_by(context)); });
  const auto needed = static_cast<std::size_t>(task.stack().top - lowest);
  return std::bit_ceil(needed + std::max(needed / 8, reserve_bytes_min));
}

// Tells the reader the size, which no table at hand lists.
void advise(std::size_t size_bytes, std::size_t enough_bytes, std::size_t repeating_count,
            ReportText& text) {
  if (repeating_count > 0) {
    text.add("  it is a recursion: the same ").add(repeating_count);
    text.add(repeating_count == 1 ? " call repeats" : " calls repeat").add(" down the stack\n");
  }
  const std::size_t next = std::max(2 * size_bytes, enough_bytes) / stack_size_factor;
  if (next > StackPool::stack_size_bytes_max) {
    text.add("  no stack is large enough: let it call less deeply, or keep less in local ");
    text.add("variables\n");
    return;
  }
  const std::size_t kibibytes = next / 1024;
  if (repeating_count > 0) {
    text.add("  let it end sooner, or make it a loop; if it always ends soon, give it ");
  } else {
    text.add("  give it one that has room for what it asked for here, ");
  }
  text.add(kibibytes).add(" KiB:\n");
  text.add("    a handler, by its method in the .proto file: ");
  text.add("option (corolane.method).stack_size = \"").add(kibibytes).add("KiB\";\n");
  text.add("    another task, where it is spawned: ");
  text.add("{.stack_size_bytes = ").add(kibibytes).add(" * 1024}\n");
  text.add("    the main task: Scheduler::Options::main_stack_size_bytes\n");
}

void hand_on(int signal, siginfo_t* info, void* context) {
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(signal, info, context);
    return;
  }
  const bool is_fault = info->si_code > 0;  // Not sent by kill() and the like.
  if (previous_action.sa_handler == SIG_IGN && !is_fault) return;
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal);
    return;
  }
  // A fault repeats on return, and then no handler catches it; a signal without room does not.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  if (!is_fault || info->si_code == SI_KERNEL) ::raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (FaultGuard::is_active()) FaultGuard::leave();
  const int error_number = errno;
  const void* const address = OverflowWatch::missing_address(*info, context);
  const TaskControl* const task = OverflowWatch::overflowed(address);
  if (task != nullptr) {
    ReportText text(STDERR_FILENO);
    OverflowWatch::describe(*task, address, context, text);
    text.flush();
  }
  errno = error_number;
  hand_on(signal, info, context);
}

// Installed once and never removed: other threads may be about to fault.
bool install_handler() {
  ::sigaction(SIGSEGV, nullptr, &previous_action);
  struct sigaction action = {};
  action.sa_sigaction = &on_fault;
  // The description reads a stack that may be broken: a fault in it must reach this handler.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigaction(SIGSEGV, &action, nullptr);
  return true;
}

bool is_below(const TaskControl* task, const std::byte* address) {
  if (task == nullptr) return false;
  const std::byte* const base = task->stack().base;
  return address < base && address >= base - StackPool::guard_size_bytes();
}

}  // namespace

OverflowWatch::OverflowWatch(const TaskControl* around) : outer_(innermost_), around_(around) {
  [[maybe_unused]] static const bool installed = install_handler();
  innermost_ = this;
  // The task's own stack has no room left then. Without an alternate one an overflow still ends the
  // process, but silently. A system call for each step of a scheduler would be too much.
  static thread_local bool has_asked = false;
  if (!has_asked) static_cast<void>(FaultGuard::give_thread_signal_stack());
  has_asked = true;
}

OverflowWatch::~OverflowWatch() { innermost_ = outer_; }

const void* OverflowWatch::missing_address(const siginfo_t& info, const void* context) {
  if (info.si_code == SI_KERNEL) return stack_pointer_of(context) - getauxval(AT_MINSIGSTKSZ);
  return info.si_code > 0 ? info.si_addr : nullptr;
}

const TaskControl* OverflowWatch::overflowed(const void* address) {
  const auto* const byte = static_cast<const std::byte*>(address);
  if (is_below(Strand::task_of_stack(), byte)) return Strand::task_of_stack();
  for (const OverflowWatch* watch = innermost_; watch != nullptr; watch = watch->outer_) {
    if (is_below(watch->around_, byte)) return watch->around_;
  }
  return nullptr;
}

void OverflowWatch::describe(const TaskControl& task, const void* address, void* context,
                             ReportText& text) {
  const std::source_location& site = task.top().site;
  const std::size_t size_bytes = size_of(task.stack());
  const auto distance = task.stack().base - static_cast<const std::byte*>(address);
  text.add("stack overflow: task ").add(task.top().id).add(" ").add_name(task.name());
  text.add(" needs more than its ").add(size_bytes).add(" bytes of stack\n  at address ");
  text.add_hex(reinterpret_cast<std::uintptr_t>(address)).add(", ");
  text.add(static_cast<std::uint64_t>(distance)).add(" bytes below the end\n");
  text.add("  spawned at ").add(site.file_name()).add(":").add(site.line()).add("\n");
  text.flush();
  advise(size_bytes, enough_bytes(task, address, context), recursion_of(context), text);
}

}  // namespace corolane::coroutine::detail
