// The handler calls only what signal-safety(7) allows: the fault may lie in the middle of
// anything, an allocation or printf() included.
#include "coroutine/detail/overflow_watch.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <string_view>

#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/signal_stack.h"
#include "coroutine/detail/task_control.h"

namespace corolane::coroutine::detail {
namespace {

constinit struct sigaction previous_action = {};

// Text that is put together without allocating; what does not fit is cut off.
class ReportText {
 public:
  ReportText& add(std::string_view part) {
    const std::size_t count = std::min(part.size(), text_.size() - size_);
    std::copy_n(part.begin(), count, text_.begin() + size_);
    size_ += count;
    return *this;
  }
  ReportText& add(std::uint64_t number, int base = 10) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), number, base).ptr;
    return add(std::string_view(digits.begin(), end));
  }
  // A name may hold anything: what is no printable ASCII becomes '?'.
  ReportText& add_name(std::string_view name) {
    for (const char c : name) add(std::string_view(c >= ' ' && c <= '~' ? &c : "?", 1));
    return *this;
  }
  void write_to(int descriptor) const {
    for (std::size_t done = 0; done < size_;) {
      const ssize_t count = ::write(descriptor, text_.data() + done, size_ - done);
      if (count < 0 && errno != EINTR) return;
      if (count > 0) done += static_cast<std::size_t>(count);
    }
  }

 private:
  std::array<char, 1024> text_;
  std::size_t size_ = 0;
};

// What was asked for, rounded up to a power of two; above it lies some room for the colour.
std::size_t size_of(const Stack& stack) {
  return std::bit_floor(static_cast<std::size_t>(stack.top - stack.base));
}

void report(const TaskControl& task, const std::byte* address) {
  const std::source_location& site = task.top().site;
  ReportText text;
  text.add("stack overflow: task ").add(task.top().id).add(" \"").add_name(task.name());
  text.add("\" needs more than its ").add(size_of(task.stack())).add(" bytes of stack\n");
  text.add("  at address 0x").add(reinterpret_cast<std::uintptr_t>(address), 16).add(", ");
  text.add(static_cast<std::uint64_t>(task.stack().base - address)).add(" bytes below the end\n");
  text.add("  spawned at ").add(site.file_name()).add(":").add(site.line()).add("\n");
  text.add("  give it more: TaskOptions::stack_size_bytes, or for the main task of a scheduler\n");
  text.add("  Scheduler::Options::main_stack_size_bytes; in a .proto file the method's option\n");
  text.write_to(STDERR_FILENO);
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
  // The return from here repeats the fault, and nobody catches it any more.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  if (!is_fault) ::raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int error_number = errno;
  const TaskControl* const task =
      info->si_code > 0 ? OverflowWatch::overflowed(info->si_addr) : nullptr;
  if (task != nullptr) report(*task, static_cast<const std::byte*>(info->si_addr));
  errno = error_number;
  hand_on(signal, info, context);
}

// Once, and for good: other threads may be about to fault.
bool install_handler() {
  ::sigaction(SIGSEGV, nullptr, &previous_action);
  struct sigaction action = {};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, nullptr);
  return true;
}

bool is_below(const TaskControl* task, const std::byte* address) {
  if (task == nullptr) return false;
  const std::byte* const base = task->stack().base;
  return address < base && address >= base - StackPool::guard_size_bytes;
}

}  // namespace

OverflowWatch::OverflowWatch(const TaskControl* around) : outer_(innermost_), around_(around) {
  [[maybe_unused]] static const bool installed = install_handler();
  innermost_ = this;
  // The stack itself has no room left then. Without another an overflow is as deadly, only silent.
  static_cast<void>(give_thread_signal_stack());
}

OverflowWatch::~OverflowWatch() { innermost_ = outer_; }

const TaskControl* OverflowWatch::overflowed(const void* address) {
  const auto* const byte = static_cast<const std::byte*>(address);
  if (is_below(Strand::task_of_stack(), byte)) return Strand::task_of_stack();
  for (const OverflowWatch* watch = innermost_; watch != nullptr; watch = watch->outer_) {
    if (is_below(watch->around_, byte)) return watch->around_;
  }
  return nullptr;
}

}  // namespace corolane::coroutine::detail
