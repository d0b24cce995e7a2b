// SPDX-License-Identifier: MIT
// Loads each value once, however many tasks ask for it meanwhile: for a cache in front of a store,
// or a static variable whose initializer suspends.
//
//   Once<std::string, Rating> ratings;
//   auto rating = ratings.get(player, [&] { return load_rating(player, deadline); }, deadline);
//   if (!rating) return rating.error();
//
// The first task that asks for a key loads its value, in its own time; the others wait and get a
// copy. A value is kept until forget(). An error is not kept: the tasks that wait get it as well,
// and the next one that asks loads again. When the loading task is cancelled or late, which says
// nothing of the value, the task that has waited longest loads instead.
//
// Its size has no bound but the number of different keys. Belongs to one scheduler's thread.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/task.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {

template <typename Key, typename T, typename Hash = std::hash<Key>>
class Once {
 public:
  // `waited_for` is what introspection shows of the waiting tasks; it outlives this object.
  explicit Once(const char* waited_for = "value that is loaded once") : waited_for_(waited_for) {}
  ~Once() {
    check(std::ranges::all_of(entries_,
                              [](const auto& keyed) { return keyed.second.value.has_value(); }),
          "no value is being loaded when its Once is destroyed");
  }
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  // Returns the kept value, or calls `load`, which returns a Result<T>, or waits for the task that
  // does. Suspends if that suspends. Fails as `load` does, or with deadline_exceeded or cancelled
  // while it waits; the caller's `load` uses the same deadline. An exception that escapes from
  // `load` goes to the caller alone. `load` must not ask for its own key.
  template <std::invocable F>
  Result<T> get(const Key& key, F load, Deadline deadline) {
    const auto [place, is_new] = entries_.try_emplace(key, waited_for_);
    typename Entries::value_type& keyed = *place;  // Stays in place while others come and go.
    Entry& entry = keyed.second;
    if (entry.value) return *entry.value;
    if (!is_new) {
      std::optional<Result<T>> shared;
      if (auto waited = entry.waiters.wait_or_fail(deadline, &shared); !waited) {
        return std::move(waited.error());
      }
      if (shared) return *std::move(shared);
      // The task that loaded has handed over.
    }
    Loading loading(*this, keyed);
    Result<T> loaded = load();
    loading.end(loaded, deadline);
    return loaded;
  }

  // The kept value; null when there is none. Valid until it is forgotten.
  const T* find(const Key& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() || !found->second.value ? nullptr : &*found->second.value;
  }

  // The next get() loads again. A value that is being loaded goes to the tasks that wait for it,
  // and is not kept.
  void forget(const Key& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    if (found->second.value) {
      entries_.erase(found);
    } else {
      found->second.is_forgotten = true;
    }
  }

  // The number of values that are kept or being loaded.
  std::size_t size() const { return entries_.size(); }

 private:
  // Without a value, a task is loading it.
  struct Entry {
    explicit Entry(const char* waited_for) : waiters(waited_for) {}

    std::optional<T> value;
    bool is_forgotten = false;
    WaitQueue waiters;  // The slot of each is an optional<Result<T>>; left empty, it is to load.
  };
  using Entries = std::unordered_map<Key, Entry, Hash>;

  // The turn of one task to load.
  class Loading {
   public:
    Loading(Once& once, typename Entries::value_type& keyed) : once_(once), keyed_(keyed) {}
    // Also after an exception.
    ~Loading() {
      if (!has_ended_ && !keyed_.second.waiters.notify_one()) erase();
    }
    Loading(const Loading&) = delete;
    Loading& operator=(const Loading&) = delete;

    void end(const Result<T>& loaded, Deadline deadline) {
      if (!loaded && (deadline.has_passed() || is_cancelled())) return;
      has_ended_ = true;
      Entry& entry = keyed_.second;
      while (!entry.waiters.empty()) {
        static_cast<std::optional<Result<T>>*>(entry.waiters.front_slot())->emplace(loaded);
        entry.waiters.notify_one();
      }
      if (loaded && !entry.is_forgotten) {
        entry.value = *loaded;
      } else {
        erase();
      }
    }

   private:
    void erase() { once_.entries_.erase(once_.entries_.find(keyed_.first)); }

    Once& once_;
    typename Entries::value_type& keyed_;
    bool has_ended_ = false;
  };

  const char* const waited_for_;
  Entries entries_;
};

}  // namespace corolane::coroutine
