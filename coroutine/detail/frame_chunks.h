// SPDX-License-Identifier: MIT
// The chunks that the frames of stackless coroutines are cut from: what is behind the free lists of
// AsyncFramePool, and how it gives memory back.
//
// Millions of coroutines may come and go at once, and a free list does not know which of its blocks
// are neighbours. So time passes in windows. At the end of one, the blocks that were free all the
// time were not needed, and are sorted into their chunks. The reserve stays.
//
// One for each thread that has pooled frames; not thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/detail/async_frame_pool.h"

namespace corolane::coroutine::detail {

class FrameChunks {
 public:
  static constexpr std::size_t chunk_size_bytes = 64 * 1024;
  // This much memory is never given back.
  static constexpr std::size_t reserve_count = 16;
  static constexpr Duration window = std::chrono::seconds(5);
  // Memory goes back in steps, which take some 50 us each, so that calls run between them.
  static constexpr std::size_t blocks_per_step = 1024;
  static constexpr Duration step_interval = std::chrono::milliseconds(1);

  FrameChunks() = default;
  // Frees everything, unless exit() ends the thread while coroutines or timers may be left.
  ~FrameChunks();
  FrameChunks(const FrameChunks&) = delete;
  FrameChunks& operator=(const FrameChunks&) = delete;

  // Those of this thread.
  static FrameChunks& own();

  // Takes a step when one is due, and returns when to call it again: never, when there is nothing
  // to give back. O(1) until a window or a step is over.
  static Deadline tend(TimePoint now) {
    return own_ == nullptr || own_->warm_count_ <= reserve_count ? Deadline::never()
                                                                 : own_->tend_own(now);
  }
  // The memory of all chunks that have not gone back.
  static std::size_t memory_bytes() {
    return own_ == nullptr ? 0 : own_->warm_count_ * chunk_size_bytes;
  }

  void* allocate(std::size_t size_bytes);

 private:
  using Block = AsyncFramePool::Block;
  static constexpr std::size_t class_count =
      AsyncFramePool::size_bytes_max / AsyncFramePool::step_bytes + 1;

  // At the beginning of its memory, which is aligned to its size.
  struct Chunk {
    Chunk* next;  // In the list of its class, while blocks of it are back.
    Chunk* previous;
    Block* returned;
    std::size_t returned_count;
    std::size_t block_count;  // Those that were cut from it.
  };
  static constexpr std::size_t header_size_bytes = AsyncFramePool::line_bytes;

  // All blocks of one size.
  struct Class {
    Block* aged = nullptr;      // Free since before this window.
    Block* unneeded = nullptr;  // Free for a whole window: to be sorted into the chunks.
    Chunk* partial = nullptr;   // The chunks that have blocks back.
    std::byte* rest = nullptr;  // The part of the newest chunk that was never handed out.
    std::byte* rest_end = nullptr;
    bool is_known = false;
  };

  Deadline tend_own(TimePoint now);
  void end_window();
  // Returns false when more is left.
  bool sort_some();
  void sort(Class& size, Block& block);
  void give_back(Class& size, Chunk& chunk);
  Chunk& new_chunk();
  static Chunk& chunk_of(void* place);
  static void push(Class& size, Chunk& chunk);
  static void unlink(Class& size, Chunk& chunk);

  static inline constinit thread_local FrameChunks* own_ = nullptr;

  std::array<Class, class_count> classes_;
  std::vector<std::size_t> known_;  // The classes that have had a block.
  std::vector<void*> cold_;         // Chunks without memory.
  std::vector<void*> mappings_;
  std::size_t warm_count_ = 0;  // Chunks that have memory.
  bool is_sorting_ = false;
  bool has_window_ = false;
  TimePoint next_;  // The end of the window, or the time of the next step.
};

}  // namespace corolane::coroutine::detail
