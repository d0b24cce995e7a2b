// SPDX-License-Identifier: MIT
#include "coroutine/stack/fault_guard.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <initializer_list>

namespace corolane::coroutine {
namespace {

// The handlers' need beyond the saved registers, whose size the kernel reports.
constexpr std::size_t room_size_bytes = 64 * 1024;

std::size_t needed_size_bytes() {
  return room_size_bytes +
         static_cast<std::size_t>(std::max<long>(sysconf(_SC_MINSIGSTKSZ), MINSIGSTKSZ));
}

// Other libraries give their threads smaller ones.
bool has_signal_stack() {
  stack_t present = {};
  return sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0 &&
         present.ss_size >= needed_size_bytes();
}

// When its thread ends, restores the signal stack of before, and frees its own.
struct SignalStack {
  ~SignalStack() {
    if (memory == nullptr) return;
    stack_t present = {};
    if (sigaltstack(nullptr, &present) == 0 && present.ss_sp == memory) {
      sigaltstack(&previous, nullptr);
    }
    munmap(memory, size_bytes);
  }

  bool install() {
    if (memory == nullptr) {
      size_bytes = needed_size_bytes();
      memory =
          mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) memory = nullptr;
    }
    const stack_t stack = {.ss_sp = memory, .ss_flags = 0, .ss_size = size_bytes};
    return memory != nullptr && sigaltstack(&stack, &previous) == 0;
  }

  void* memory = nullptr;
  std::size_t size_bytes = 0;
  stack_t previous = {};
};

}  // namespace

void FaultGuard::leave() {
  sigset_t faults;
  sigemptyset(&faults);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaddset(&faults, fault);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
  siglongjmp(*innermost_, 1);
}

bool FaultGuard::give_thread_signal_stack() {
  if (has_signal_stack()) return true;
  static thread_local SignalStack stack;
  return stack.install();
}

}  // namespace corolane::coroutine
