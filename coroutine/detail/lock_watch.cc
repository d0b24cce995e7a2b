// SPDX-License-Identifier: MIT
// A program's own definitions take precedence over those of shared libraries, for the libraries
// too: every call in the process arrives here. Calls inside the C library do not, as in
// pthread_cond_wait(), but they lock as often as they unlock.
#include "coroutine/detail/lock_watch.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <ctime>

#include "coroutine/detail/switcher.h"

namespace corolane::coroutine::detail {

void LockWatch::acquired() {
  ++held_count;
  if (Switcher::running_ != nullptr) Switcher::current_->watch_next_switch();
}

void LockWatch::initialiser_began() {
  ++initialiser_count;
  if (Switcher::running_ != nullptr) Switcher::current_->watch_next_switch();
}

}  // namespace corolane::coroutine::detail

namespace {

using corolane::coroutine::detail::LockWatch;

// The next function of that name, looked up at its first call, which may precede main().
template <typename Returned, typename... Arguments>
class NextFunction {
 public:
  explicit constexpr NextFunction(const char* name) : name_(name) {}

  Returned operator()(Arguments... arguments) {
    Function* function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_));
      function_.store(function, std::memory_order_relaxed);
    }
    return function(arguments...);
  }

 private:
  using Function = Returned(Arguments...);

  const char* const name_;
  std::atomic<Function*> function_ = nullptr;
};

template <typename... Arguments>
class Next : public NextFunction<int, Arguments...> {
 public:
  using NextFunction<int, Arguments...>::NextFunction;

  int lock(Arguments... arguments) {
    const int error = (*this)(arguments...);
    // With EOWNERDEAD the lock is held, too.
    if (error == 0 || error == EOWNERDEAD) LockWatch::acquired();
    return error;
  }

  int unlock(Arguments... arguments) {
    const int error = (*this)(arguments...);
    if (error == 0) LockWatch::released();
    return error;
  }
};

using Mutex = pthread_mutex_t*;
using RwLock = pthread_rwlock_t*;
using Time = const timespec*;

constinit Next<Mutex> mutex_lock("pthread_mutex_lock");
constinit Next<Mutex> mutex_trylock("pthread_mutex_trylock");
constinit Next<Mutex, Time> mutex_timedlock("pthread_mutex_timedlock");
constinit Next<Mutex, clockid_t, Time> mutex_clocklock("pthread_mutex_clocklock");
constinit Next<Mutex> mutex_unlock("pthread_mutex_unlock");
constinit Next<RwLock> rwlock_rdlock("pthread_rwlock_rdlock");
constinit Next<RwLock> rwlock_tryrdlock("pthread_rwlock_tryrdlock");
constinit Next<RwLock, Time> rwlock_timedrdlock("pthread_rwlock_timedrdlock");
constinit Next<RwLock, clockid_t, Time> rwlock_clockrdlock("pthread_rwlock_clockrdlock");
constinit Next<RwLock> rwlock_wrlock("pthread_rwlock_wrlock");
constinit Next<RwLock> rwlock_trywrlock("pthread_rwlock_trywrlock");
constinit Next<RwLock, Time> rwlock_timedwrlock("pthread_rwlock_timedwrlock");
constinit Next<RwLock, clockid_t, Time> rwlock_clockwrlock("pthread_rwlock_clockwrlock");
constinit Next<RwLock> rwlock_unlock("pthread_rwlock_unlock");

using Guard = __cxxabiv1::__guard*;

constinit NextFunction<int, Guard> guard_acquire("__cxa_guard_acquire");
constinit NextFunction<void, Guard> guard_release("__cxa_guard_release");
constinit NextFunction<void, Guard> guard_abort("__cxa_guard_abort");

}  // namespace

// Declared by <pthread.h>, whose parameters have other names.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

int pthread_mutex_lock(Mutex mutex) noexcept { return mutex_lock.lock(mutex); }
int pthread_mutex_trylock(Mutex mutex) noexcept { return mutex_trylock.lock(mutex); }
int pthread_mutex_timedlock(Mutex mutex, Time until) noexcept {
  return mutex_timedlock.lock(mutex, until);
}
int pthread_mutex_clocklock(Mutex mutex, clockid_t clock, Time until) noexcept {
  return mutex_clocklock.lock(mutex, clock, until);
}
int pthread_mutex_unlock(Mutex mutex) noexcept { return mutex_unlock.unlock(mutex); }

int pthread_rwlock_rdlock(RwLock lock) noexcept { return rwlock_rdlock.lock(lock); }
int pthread_rwlock_tryrdlock(RwLock lock) noexcept { return rwlock_tryrdlock.lock(lock); }
int pthread_rwlock_timedrdlock(RwLock lock, Time until) noexcept {
  return rwlock_timedrdlock.lock(lock, until);
}
int pthread_rwlock_clockrdlock(RwLock lock, clockid_t clock, Time until) noexcept {
  return rwlock_clockrdlock.lock(lock, clock, until);
}
int pthread_rwlock_wrlock(RwLock lock) noexcept { return rwlock_wrlock.lock(lock); }
int pthread_rwlock_trywrlock(RwLock lock) noexcept { return rwlock_trywrlock.lock(lock); }
int pthread_rwlock_timedwrlock(RwLock lock, Time until) noexcept {
  return rwlock_timedwrlock.lock(lock, until);
}
int pthread_rwlock_clockwrlock(RwLock lock, clockid_t clock, Time until) noexcept {
  return rwlock_clockwrlock.lock(lock, clock, until);
}
int pthread_rwlock_unlock(RwLock lock) noexcept { return rwlock_unlock.unlock(lock); }

}  // extern "C"

namespace __cxxabiv1 {
extern "C" {

int __cxa_guard_acquire(Guard guard) {
  const int is_first = guard_acquire(guard);
  if (is_first != 0) LockWatch::initialiser_began();
  return is_first;
}

void __cxa_guard_release(Guard guard) noexcept {
  LockWatch::initialiser_ended();
  guard_release(guard);
}

void __cxa_guard_abort(Guard guard) noexcept {
  LockWatch::initialiser_ended();
  guard_abort(guard);
}

}  // extern "C"
}  // namespace __cxxabiv1
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
