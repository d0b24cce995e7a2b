// SPDX-License-Identifier: MIT
// Memory for the frames of stackless coroutines and the chunks of timers: a free list per size, for
// each thread.
//
// A frame lives for the time of one call, millions may wait at once, and its size is known where it
// is made. So a block is taken from a list and returned to it without a search, and carries no
// header.
//
// Blocks are cut from chunks of one size of block each. Blocks that a list did not need for a while
// are sorted into the chunks, a few blocks at a time (FrameChunks::tend); the memory of a chunk
// whose blocks are all back goes to the system, and its addresses to the next size that needs a
// chunk.
//
// Not thread-safe: a frame ends on the thread where it began.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <utility>

#include "coroutine/stack/detail/sanitizer.h"

namespace corolane::coroutine::detail {

class AsyncFramePool {
 public:
  static void* allocate(std::size_t size_bytes) {
    Lists& lists = lists_;
    if (is_pooled(size_bytes)) {
      Block*& list = lists.free[size_bytes / step_bytes];
      if (list != nullptr) return std::exchange(list, list->next);
    }
    return allocate_slowly(size_bytes);
  }

  static void release(void* place, std::size_t size_bytes) {
    if (!is_pooled(size_bytes)) {
      return ::operator delete(place, size_bytes, std::align_val_t{line_bytes});
    }
    Block*& list = lists_.free[size_bytes / step_bytes];
    list = new (place) Block{list};
  }

  // The same for the frame of a coroutine, and counts the frames.
  static void* allocate_frame(std::size_t size_bytes) {
    ++lists_.frame_count;
    return lists_.newest_frame = allocate(size_bytes);
  }
  static void release_frame(void* frame, std::size_t size_bytes) {
    --lists_.frame_count;
    release(frame, size_bytes);
  }
  static std::size_t frame_count() { return lists_.frame_count; }
  static const void* newest_frame() { return lists_.newest_frame; }

 private:
  friend class FrameChunks;

  struct Block {
    Block* next;
  };
  // Sizes are multiples of eight. A type with an alignment of 16, or of a whole line of the cache,
  // has a size that is a multiple of it, and only blocks of such sizes are aligned to it.
  static constexpr std::size_t step_bytes = 8;
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t size_bytes_max = 2048;  // Larger ones come from the heap.

  struct Lists {
    std::array<Block*, size_bytes_max / step_bytes + 1> free;
    std::size_t frame_count;
    void* newest_frame;
  };

  // Not with sanitizers: they track each frame as an allocation of its own.
  static bool is_pooled([[maybe_unused]] std::size_t size_bytes) {
#if defined(COROLANE_ASAN) || defined(COROLANE_TSAN)
    return false;
#else
    return size_bytes <= size_bytes_max && size_bytes % step_bytes == 0;
#endif
  }
  static void* allocate_slowly(std::size_t size_bytes);

  static inline constinit thread_local Lists lists_{};
};

}  // namespace corolane::coroutine::detail
