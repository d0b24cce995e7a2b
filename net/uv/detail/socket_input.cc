// SPDX-License-Identifier: MIT
// The reading half of SocketStream: bytes go directly to a waiting task, through the loop's buffer
// to the sink, or, while there is neither, a little ahead of both.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/prefetch.h"
#include "coroutine/scheduler.h"
#include "net/uv/detail/socket_handle.h"
#include "net/uv/detail/socket_stream.h"
#include "net/uv/detail/uv_error.h"

namespace corolane::net::detail {
namespace {

// How far a stream reads ahead of a busy task: a request of usual size. Further input waits in the
// kernel, and then at the peer.
constexpr std::size_t early_bytes_max = 16 * 1024;
static_assert(early_bytes_max <= BufferPool::buffer_bytes_min);

// The most that a sink is given at once: some dozens of requests, so that the data they need is
// still in the cache when they are served.
constexpr std::size_t sink_bytes_max = 8 * 1024;

// How much of a sink is fetched ahead of its input. Seldom is it in the cache: many others were
// served since. Without it, an echo over one of a thousand WebSockets takes an eighth longer.
constexpr std::size_t sink_prefetch_bytes = 512;

// Returns the number of bytes read, 0 when there are none, or the error that libuv would report.
ssize_t receive(int descriptor, std::span<std::byte> room) {
  const ssize_t count = ::recv(descriptor, room.data(), room.size(), 0);
  if (count > 0) return count;
  if (count == 0) return UV_EOF;
  return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

}  // namespace

Result<std::size_t> SocketStream::read_some(std::span<std::byte> buffer, Deadline deadline) {
  if (!input_.has_early() && !input_.has_ended()) start_reading();
  auto count = input_.read_some(buffer, deadline);
  if (!count) return std::move(count.error()).with_context(name());
  count_held();
  if (*count == 0 && failure_) return *failure_;
  return *count;
}

void SocketStream::set_read_sink(ReadSink& sink) {
  if (input_.set_sink(sink)) loop_.add_due(*this);
}

// Reading goes on with the next reader, when that has taken what waits here.
void SocketStream::release_read_sink(std::span<const std::byte> unread) {
  input_.release_sink(unread);
  count_held();
  stop_reading();
}

void SocketStream::pause_reading() {
  input_.pause();
  stop_reading();
}

void SocketStream::resume_reading() {
  input_.resume();
  if (input_.has_sink()) loop_.add_due(*this);
}

bool SocketStream::sink_is_open() const {
  if (input_.is_paused()) return false;
  const bool is_tight = account_.is_tight();
  return unsent_bytes() <= (is_tight ? 0 : options_.output_while_reading_max);
}

void SocketStream::stop_reading() {
  if (!reading_) return;
  reading_ = false;
  loop_.poller.remove(descriptor_);
}

void SocketStream::start_reading() {
  if (reading_) return;
  reading_ = true;
  reading_since_ = coroutine::Scheduler::current().turn_time();
  loop_.poller.add(descriptor_, socket_);
}

void SocketStream::note_received(ssize_t count) {
  received_count_ += static_cast<std::uint64_t>(count);
  heard_at_ = coroutine::Scheduler::current().turn_time();
}

// The handle lives until libuv has closed it, which happens later. So only the handle can tell that
// the stream was destroyed by its sink or by a task that ran meanwhile.
void SocketHandle::on_readable(const SocketHandle& self) {
  if (self.owner == nullptr || !self.owner->reading_) return;
  EventLoop::Impl& loop = self.owner->loop_;
  const auto room = self.owner->place_to_read();
  const ssize_t count = room.empty() ? 0 : receive(self.owner->descriptor_, room);
  if (count > 0) self.owner->note_received(count);
  if (count <= 0 || !self.owner->input_.feeds_sink()) {
    self.owner->on_read(count);
    return loop.after_handler();
  }
  std::span<const std::byte> bytes(loop.read_buffer.data(), static_cast<std::size_t>(count));
  loop.read_share.note(bytes.size());
  while (!bytes.empty() && self.owner != nullptr) {
    const auto share = bytes.first(std::min(bytes.size(), sink_bytes_max));
    bytes = bytes.subspan(share.size());
    self.owner->give_to_sink(share);
    loop.after_handler();
  }
}

std::span<std::byte> SocketStream::place_to_read() {
  if (input_.feeds_sink()) return place_to_read_for_sink();
  return input_.room(early_bytes_max - input_.early_size());
}

// Empty when the sink has had its share of this turn, so that a peer that floods one connection
// does not delay the others.
std::span<std::byte> SocketStream::place_to_read_for_sink() {
  if (std::exchange(read_turn_, loop_.turn_count) == loop_.turn_count) return {};
  if (account_.waits_for_evicted()) return {};
  // They come while the kernel copies the input, which takes longer.
  prefetch_for_write(this, sizeof *this);
  prefetch_for_write(&input_.sink(), sink_prefetch_bytes);
  return std::span(loop_.read_buffer).first(loop_.read_share.bytes());
}

// Comes right after place_to_read(): the bytes lie in the span that it returned.
void SocketStream::on_read(ssize_t signed_count) {
  if (signed_count < 0) return on_read_end(static_cast<int>(signed_count));
  if (input_.feeds_sink()) return;  // It is given nothing in this turn.
  input_.fill(static_cast<std::size_t>(signed_count));
  count_held();
  if (input_.early_size() == early_bytes_max) stop_reading();
}

void SocketStream::give_to_sink(std::span<const std::byte> bytes) {
  if (input_.feeds_sink() && sink_is_open()) return input_.sink().on_bytes(bytes);
  stop_reading();
  input_.keep(bytes);
  count_held();
}

void SocketStream::on_read_end(int status) {
  input_.fill(0);
  stop_reading();
  if (status != UV_EOF) return break_off(uv_error(status, name()));
  input_.end();
  if (input_.owes_end(/*has_failed=*/false)) tell_end();
}

void SocketStream::deliver_early() {
  // The rest comes right after this, unless the sink closes or destroys the stream.
  loop_.add_due(*this);
  loop_.keep_awake = true;
  input_.deliver_early();
}

void SocketStream::tell_end() {
  loop_.keep_awake = true;
  input_.tell_end(failure_ ? *failure_ : Error(Code::unavailable, name() + ": closed by peer"));
}

}  // namespace corolane::net::detail
