// SPDX-License-Identifier: MIT
// One lock per key, such as one per player: tasks that work on different keys do not wait.
//
//   KeyedMutex<PlayerId> players;
//   auto guard = players.lock(id, deadline);
//   if (!guard) return guard.error();
//
// First come, first served on each key. Only locked keys take memory: locking a free key allocates
// a node of a hash table, and waiting allocates nothing. Not recursive: a task that locks a key
// twice waits for itself.
#pragma once

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/operation.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {

template <typename Key, typename Hash = std::hash<Key>>
class KeyedMutex {
  struct Lock {
    WaitQueue waiters{"keyed mutex"};
  };
  // Contains exactly the locked keys.
  using Locks = std::unordered_map<Key, Lock, Hash>;

 public:
  // Holds the lock on a key until it is destroyed; must not outlive the mutex. A task other than
  // the locker may destroy it.
  class Guard {
   public:
    Guard(Guard&& other) noexcept
        : mutex_(std::exchange(other.mutex_, nullptr)), locked_(other.locked_) {}
    Guard& operator=(Guard&& other) noexcept {
      Guard moved(std::move(other));
      std::swap(mutex_, moved.mutex_);
      std::swap(locked_, moved.locked_);
      return *this;
    }
    ~Guard() {
      if (mutex_ != nullptr) mutex_->unlock(*locked_);
    }

   private:
    friend class KeyedMutex;
    Guard(KeyedMutex& mutex, typename Locks::value_type& locked)
        : mutex_(&mutex), locked_(&locked) {}

    KeyedMutex* mutex_;
    typename Locks::value_type* locked_;  // Stays in place while others come and go.
  };

  KeyedMutex() = default;
  ~KeyedMutex() { check(locks_.empty(), "a mutex is unlocked before it is destroyed"); }
  KeyedMutex(const KeyedMutex&) = delete;
  KeyedMutex& operator=(const KeyedMutex&) = delete;

  // Suspends until the lock on `key` is held. Fails with deadline_exceeded or cancelled.
  Result<Guard> lock(Key key, Deadline deadline) {
    return perform(locking(std::move(key)), deadline);
  }

  // The number of keys that are locked now.
  std::size_t size() const { return locks_.size(); }

  // The same as an operation, for select() and stackless coroutines.
  class Locking {
   public:
    using Value = Guard;

    Locking(KeyedMutex& mutex, Key key) : mutex_(mutex), key_(std::move(key)) {}
    bool try_complete() {
      const auto [place, is_free] = mutex_.locks_.try_emplace(key_);
      locked_ = &*place;
      return is_free;
    }
    WaitQueue& queue() { return locked_->second.waiters; }
    void* slot() { return nullptr; }
    Result<Guard> finish() { return Guard(mutex_, *locked_); }

   private:
    KeyedMutex& mutex_;
    Key key_;
    typename Locks::value_type* locked_ = nullptr;
  };
  Locking locking(Key key) { return Locking(*this, std::move(key)); }

 private:
  // Hands the lock to the longest waiter.
  void unlock(typename Locks::value_type& locked) {
    if (!locked.second.waiters.notify_one()) locks_.erase(locks_.find(locked.first));
  }

  Locks locks_;
};

}  // namespace corolane::coroutine
