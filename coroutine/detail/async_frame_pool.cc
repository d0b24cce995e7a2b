// SPDX-License-Identifier: MIT
// Provides the blocks of stackless frames, and frees them when the thread ends.
#include "coroutine/detail/async_frame_pool.h"

#include <memory>
#include <vector>

namespace corolane::coroutine::detail {

// All chunks of a thread. When exit() ends the thread while coroutines are left, their memory is
// not freed.
class AsyncFramePool::Chunks {
 public:
  ~Chunks() {
    if (lists_.frame_count == 0) {
      lists_ = {};
    } else {
      for (auto& chunk : chunks_) static_cast<void>(chunk.release());
    }
  }

  void add() {
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_size_bytes));
    lists_.rest_begin = chunks_.back().get();
    lists_.rest_end = lists_.rest_begin + chunk_size_bytes;
  }

 private:
  // Large enough that the heap maps a chunk by itself and unmaps it as a whole.
  static constexpr std::size_t chunk_size_bytes = 1024 * 1024;

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

void* AsyncFramePool::allocate_slowly(std::size_t size_bytes) {
  if (!is_pooled(size_bytes)) return ::operator new(size_bytes);
  static thread_local Chunks chunks;
  void* place = lists_.rest_begin;
  auto space = static_cast<std::size_t>(lists_.rest_end - lists_.rest_begin);
  const std::size_t alignment = size_bytes % 16 == 0 ? 16 : step_bytes;
  if (std::align(alignment, size_bytes, place, space) == nullptr) {
    chunks.add();  // A chunk begins at any alignment needed.
    place = lists_.rest_begin;
  }
  lists_.rest_begin = static_cast<std::byte*>(place) + size_bytes;
  return place;
}

}  // namespace corolane::coroutine::detail
