// SPDX-License-Identifier: MIT
// Memory for what travels to another thread and comes back, such as letters: each thread keeps some
// blocks of the size of a type, so that the next one needs no allocation.
//
//   auto parcel = std::allocate_shared<Parcel>(ThreadCached<Parcel>(), contents);
//
// A block may be released on any thread, and then stays there. The lists are bounded, so that a
// thread that only receives does not keep all that others send.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace corolane {

// `Size` and `Alignment` are those of all blocks.
template <std::size_t Size, std::size_t Alignment>
class ThreadCache {
 public:
  static void* allocate() {
    if constexpr (is_used) {
      List& list = list_;
      if (list.first != nullptr && !is_over_) {
        --list.count;
        return std::exchange(list.first, list.first->next);
      }
    }
    return from_heap();
  }

  static void release(void* place) {
    if constexpr (is_used) {
      List& list = list_;
      if (list.count < count_max && !is_over_) {
        ++list.count;
        list.first = new (place) Block{list.first};
        return;
      }
    }
    to_heap(place);
  }

 private:
  struct Block {
    Block* next;
  };
  struct List {
    Block* first = nullptr;
    std::size_t count = 0;

    ~List() {
      is_over_ = true;
      while (first != nullptr) to_heap(std::exchange(first, first->next));
    }
  };

  static void* from_heap() {
    if constexpr (Alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      return ::operator new(Size, std::align_val_t{Alignment});
    } else {
      return ::operator new(Size);
    }
  }
  static void to_heap(void* place) {
    if constexpr (Alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      ::operator delete(place, std::align_val_t{Alignment});
    } else {
      ::operator delete(place);
    }
  }

  // A shard rarely has more calls under way at the same time.
  static constexpr std::size_t count_max = 256;
  // Sanitizers track each object as an allocation of its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool is_used = false;
#else
  static constexpr bool is_used = Size >= sizeof(Block);
#endif

  static inline thread_local List list_;
  // The thread ends, and the list is destroyed: what follows uses the heap.
  static inline constinit thread_local bool is_over_ = false;
};

// The allocator that uses it.
template <typename T>
struct ThreadCached {
  using value_type = T;

  ThreadCached() = default;
  template <typename U>
  ThreadCached(const ThreadCached<U>&) {}  // NOLINT(google-explicit-constructor): an allocator.

  T* allocate(std::size_t count) {
    if (count != 1) return std::allocator<T>().allocate(count);
    return static_cast<T*>(ThreadCache<sizeof(T), alignof(T)>::allocate());
  }
  void deallocate(T* place, std::size_t count) {
    if (count != 1) return std::allocator<T>().deallocate(place, count);
    ThreadCache<sizeof(T), alignof(T)>::release(place);
  }

  template <typename U>
  friend bool operator==(const ThreadCached&, const ThreadCached<U>&) {
    return true;
  }
};

}  // namespace corolane
