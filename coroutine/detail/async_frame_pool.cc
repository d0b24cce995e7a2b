// SPDX-License-Identifier: MIT
#include "coroutine/detail/async_frame_pool.h"

#include "coroutine/detail/frame_chunks.h"

namespace corolane::coroutine::detail {

void* AsyncFramePool::allocate_slowly(std::size_t size_bytes) {
  if (!is_pooled(size_bytes)) return ::operator new(size_bytes, std::align_val_t{line_bytes});
  return FrameChunks::own().allocate(size_bytes);
}

}  // namespace corolane::coroutine::detail
