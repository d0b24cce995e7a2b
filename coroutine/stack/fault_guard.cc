#include "coroutine/stack/fault_guard.h"

#include <pthread.h>

#include <csignal>
#include <initializer_list>

namespace corolane::coroutine {

void FaultGuard::leave() {
  sigset_t faults;
  sigemptyset(&faults);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaddset(&faults, fault);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
  siglongjmp(*innermost_, 1);
}

}  // namespace corolane::coroutine
