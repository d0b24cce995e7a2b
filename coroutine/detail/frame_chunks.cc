// SPDX-License-Identifier: MIT
#include "coroutine/detail/frame_chunks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace corolane::coroutine::detail {
namespace {

// Address space is mapped for many chunks at once: the kernel limits the number of mappings.
constexpr std::size_t chunks_per_mapping = 256;
constexpr std::size_t mapping_size_bytes = chunks_per_mapping * FrameChunks::chunk_size_bytes;
// The number of blocks that move to a free list at once.
constexpr int batch_size = 32;

}  // namespace

FrameChunks& FrameChunks::own() {
  static thread_local FrameChunks chunks;
  own_ = &chunks;
  return chunks;
}

FrameChunks::Chunk& FrameChunks::chunk_of(void* place) {
  const auto address = reinterpret_cast<std::uintptr_t>(place);
  return *reinterpret_cast<Chunk*>(address & ~std::uintptr_t{chunk_size_bytes - 1});
}

FrameChunks::~FrameChunks() {
  own_ = nullptr;
  if (AsyncFramePool::frame_count() > 0 || ::getpid() == ::gettid()) return;
  AsyncFramePool::lists_ = {};
  for (void* const mapping : mappings_) munmap(mapping, mapping_size_bytes);
}

void* FrameChunks::allocate(std::size_t size_bytes) {
  const std::size_t index = size_bytes / AsyncFramePool::step_bytes;
  Class& size = classes_[index];
  Block*& list = AsyncFramePool::lists_.free[index];
  if (!size.is_known) {
    size.is_known = true;
    known_.push_back(index);
  }
  for (Block** const from : {&size.aged, &size.unneeded}) {
    if (*from == nullptr) continue;
    list = *from;
    Block* last = list;
    for (int count = 1; count < batch_size && last->next != nullptr; ++count) last = last->next;
    *from = std::exchange(last->next, nullptr);
    return std::exchange(list, list->next);
  }
  if (size.partial != nullptr) {
    Chunk& chunk = *size.partial;
    unlink(size, chunk);
    list = std::exchange(chunk.returned, nullptr);
    chunk.returned_count = 0;
    return std::exchange(list, list->next);
  }
  if (static_cast<std::size_t>(size.rest_end - size.rest) < size_bytes) {
    Chunk& chunk = new_chunk();
    size.rest = reinterpret_cast<std::byte*>(&chunk) + header_size_bytes;
    size.rest_end = reinterpret_cast<std::byte*>(&chunk) + chunk_size_bytes;
  }
  ++chunk_of(size.rest).block_count;
  return std::exchange(size.rest, size.rest + size_bytes);
}

FrameChunks::Chunk& FrameChunks::new_chunk() {
  if (cold_.empty()) {
    // Room to align it.
    const std::size_t mapped_bytes = mapping_size_bytes + chunk_size_bytes;
    void* const mapped = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
    const std::uintptr_t aligned =
        (begin + chunk_size_bytes - 1) & ~std::uintptr_t{chunk_size_bytes - 1};
    if (aligned > begin) munmap(mapped, aligned - begin);
    const std::size_t behind = begin + mapped_bytes - (aligned + mapping_size_bytes);
    if (behind > 0) munmap(reinterpret_cast<void*>(aligned + mapping_size_bytes), behind);
    auto* const memory = reinterpret_cast<std::byte*>(aligned);
    mappings_.push_back(memory);
    cold_.reserve(mappings_.size() * chunks_per_mapping);  // Giving back allocates nothing.
    // The lowest addresses are taken first.
    for (std::size_t number = chunks_per_mapping; number-- > 0;) {
      cold_.push_back(memory + number * chunk_size_bytes);
    }
  }
  void* const place = cold_.back();
  cold_.pop_back();
  ++warm_count_;
  return *new (place) Chunk{};
}

Deadline FrameChunks::tend_own(TimePoint now) {
  // A clock that went back is that of another scheduler.
  const bool is_early = now < next_ && next_ - now <= window;
  if (has_window_ && is_early) return Deadline::at(next_);
  if (!has_window_) {
    bool is_idle = true;
    for (const std::size_t index : known_) {
      is_idle = is_idle && AsyncFramePool::lists_.free[index] == nullptr &&
                classes_[index].aged == nullptr && classes_[index].unneeded == nullptr;
    }
    if (is_idle) return Deadline::never();
    has_window_ = true;
    next_ = now + window;
    return Deadline::at(next_);
  }
  if (!is_sorting_) end_window();
  is_sorting_ = !sort_some();
  if (is_sorting_) {
    next_ = now + step_interval;
    return Deadline::at(next_);
  }
  has_window_ = false;
  return tend(now);
}

void FrameChunks::end_window() {
  for (const std::size_t index : known_) {
    Class& size = classes_[index];
    // Some are left when only the reserve was.
    if (size.unneeded != nullptr) continue;
    size.unneeded = std::exchange(size.aged, nullptr);
    size.aged = std::exchange(AsyncFramePool::lists_.free[index], nullptr);
  }
}

bool FrameChunks::sort_some() {
  std::size_t left = blocks_per_step;
  for (const std::size_t index : known_) {
    Class& size = classes_[index];
    while (size.unneeded != nullptr && warm_count_ > reserve_count) {
      if (left-- == 0) return false;
      Block& block = *size.unneeded;
      size.unneeded = block.next;
      sort(size, block);
    }
  }
  return true;
}

void FrameChunks::sort(Class& size, Block& block) {
  Chunk& chunk = chunk_of(&block);
  if (chunk.returned_count == 0) push(size, chunk);
  block.next = std::exchange(chunk.returned, &block);
  if (++chunk.returned_count == chunk.block_count) give_back(size, chunk);
}

void FrameChunks::give_back(Class& size, Chunk& chunk) {
  if (size.rest != nullptr && &chunk_of(size.rest_end - 1) == &chunk) {
    size.rest = size.rest_end = nullptr;
  }
  unlink(size, chunk);
  --warm_count_;
  // Anonymous memory is never refused; if it were, the chunk would merely stay warm.
  static_cast<void>(madvise(&chunk, chunk_size_bytes, MADV_DONTNEED));
  cold_.push_back(&chunk);
}

void FrameChunks::push(Class& size, Chunk& chunk) {
  chunk.next = std::exchange(size.partial, &chunk);
  chunk.previous = nullptr;
  if (chunk.next != nullptr) chunk.next->previous = &chunk;
}

void FrameChunks::unlink(Class& size, Chunk& chunk) {
  (chunk.previous == nullptr ? size.partial : chunk.previous->next) = chunk.next;
  if (chunk.next != nullptr) chunk.next->previous = chunk.previous;
}

}  // namespace corolane::coroutine::detail
