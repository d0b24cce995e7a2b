// SPDX-License-Identifier: MIT
// The reading half of a stream: hands input to its reader, and keeps what comes ahead of it.
//
// A stream reads from a socket, from records of TLS or from a simulated peer, and stops reading by
// means of its own. Where the next bytes belong is the same for all: in the buffer of the task that
// waits, in the sink's call, or, while there is neither or the sink pauses, in a buffer that is
// delivered later ("early"). The end comes behind all input, once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "net/detail/buffer_pool.h"
#include "net/detail/byte_buffer.h"
#include "net/detail/reader.h"
#include "net/stream.h"

namespace corolane::net::detail {

// Where a task in read_some() waits.
struct ReadPlace {
  std::span<std::byte> buffer;
  std::size_t count = 0;
};

class ReadHalf : public Reader<ReadSink, ReadPlace> {
 public:
  // Borrows the memory of early bytes from `buffers`, which outlives the stream.
  ReadHalf(BufferPool& buffers, const char* waited_for) : Reader(waited_for), buffers_(buffers) {}

  bool has_early() const { return !early_.empty(); }
  std::size_t early_size() const { return early_.size(); }
  // The memory of the early bytes.
  std::size_t early_capacity() const { return early_.capacity(); }

  // Differs from Stream::read_some() in that 0 stands for every end, and that its errors do not
  // name the stream.
  Result<std::size_t> read_some(std::span<std::byte> buffer, Deadline deadline);

  // True when the next bytes belong in the sink's call, unless the stream holds them back.
  bool feeds_sink() const { return has_sink() && early_.empty(); }

  // Room for input that the sink does not take: the buffer of the task that waits, otherwise `size`
  // bytes behind the early ones. fill() comes right after it, and says how many bytes were read.
  std::span<std::byte> room(std::size_t size) {
    if (has_task()) return place().buffer;
    if (early_.capacity() == 0) early_ = buffers_.lend();
    return early_.room(size);
  }
  void fill(std::size_t count);
  // Copies input that the sink does not take now: to the task that waits, the rest for later.
  void keep(std::span<const std::byte> bytes);

  // See Stream::release_read_sink().
  void release_sink(std::span<const std::byte> unread);

  // Gives the early bytes to the sink, which may destroy the stream in that call: touches nothing
  // of it afterwards.
  void deliver_early();
  // True when the sink has to be told of the end. A paused one is told only of a failure.
  bool owes_end(bool has_failed) const {
    return feeds_sink() && has_ended() && (!is_paused() || has_failed);
  }

  void close() {
    buffers_.give_back(std::move(early_));
    Reader::close();
  }

 private:
  BufferPool& buffers_;
  ByteBuffer early_;
};

inline Result<std::size_t> ReadHalf::read_some(std::span<std::byte> buffer, Deadline deadline) {
  check_free();
  check(!buffer.empty(), "there is room for what read_some() reads");
  if (early_.empty() && !has_ended()) {
    ReadPlace place{.buffer = buffer};
    if (auto waited = wait(place, deadline); !waited) return std::move(waited.error());
    if (place.count > 0) return place.count;
  }
  const std::size_t count = std::min(buffer.size(), early_.size());
  if (count == 0) return count;  // It has ended.
  std::memcpy(buffer.data(), early_.bytes().data(), count);
  early_.consume(count);
  if (early_.empty()) buffers_.give_back(std::move(early_));
  return count;
}

inline void ReadHalf::fill(std::size_t count) {
  if (has_task()) {
    if (count == 0) return;
    place().count = count;
    return wake_task();
  }
  early_.commit(count);
  if (early_.empty()) buffers_.give_back(std::move(early_));
}

// Pauses the stream below another one while that has enough input, and resumes it when all of the
// input is taken.
class SourcePause {
 public:
  bool is_paused() const { return paused_; }

  void regulate(Stream& source, bool has_enough, bool is_empty) {
    if (has_enough == paused_ || (paused_ && !is_empty)) return;
    paused_ = has_enough;
    if (paused_) {
      source.pause_reading();
    } else {
      source.resume_reading();
    }
  }

 private:
  bool paused_ = false;
};

}  // namespace corolane::net::detail
