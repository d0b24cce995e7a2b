// SPDX-License-Identifier: MIT
#include "net/websocket/detail/websocket_deflate.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "coroutine/base/check.h"
#include "net/detail/byte_buffer.h"

namespace corolane::net::detail {
namespace {

// A buffer of the thread that a larger message has grown is given back with the next one.
constexpr std::size_t kept_deflate_bytes = 64 * 1024;
// The first room for what a message inflates to.
constexpr std::size_t first_room_bytes = 4 * 1024;
// The window of a peer that was not told to use a smaller one.
constexpr int window_bits_max = 15;
constexpr int deflate_memory_level = 8;
// Section 7.2.1: what a flush ends with is left out on the wire.
constexpr std::array<std::byte, 4> flush_tail = {std::byte{0}, std::byte{0}, std::byte{0xff},
                                                 std::byte{0xff}};

Bytef* to_zlib(const std::byte* bytes) {
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes));  // zlib reads its input only.
}

uInt to_zlib_size(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

class PayloadDeflation {
 public:
  explicit PayloadDeflation(int window_bits) : window_bits_(window_bits) {
    // The lowest level, as a server has little time for each message; negative bits are raw data.
    check(deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, -window_bits, deflate_memory_level,
                       Z_DEFAULT_STRATEGY) == Z_OK,
          "zlib has memory, and windows of 9 to 15 bits");
  }
  ~PayloadDeflation() { deflateEnd(&stream_); }
  PayloadDeflation(const PayloadDeflation&) = delete;
  PayloadDeflation& operator=(const PayloadDeflation&) = delete;

  int window_bits() const { return window_bits_; }

  // Returns the size of the output, with its tail; nothing when there is more than `out` holds.
  std::optional<std::size_t> run(std::span<const std::byte> payload, std::span<std::byte> out) {
    deflateReset(&stream_);
    stream_.next_in = to_zlib(payload.data());
    stream_.avail_in = to_zlib_size(payload.size());
    stream_.next_out = to_zlib(out.data());
    stream_.avail_out = to_zlib_size(out.size());
    if (deflate(&stream_, Z_SYNC_FLUSH) != Z_OK || stream_.avail_out == 0) return std::nullopt;
    return out.size() - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  const int window_bits_;
};

}  // namespace

std::optional<std::span<const std::byte>> deflate_websocket_payload(
    const WebSocketDeflate& deflate, std::span<const std::byte> payload) {
  // One state for all sizes of windows: a peer that asks for another one costs a new state, which
  // takes little longer than resetting the old one.
  thread_local std::unique_ptr<PayloadDeflation> deflation;
  thread_local ByteBuffer buffer;
  constexpr std::size_t size_max = std::numeric_limits<uInt>::max() - flush_tail.size();
  if (payload.size() > size_max) return std::nullopt;
  if (deflation == nullptr || deflation->window_bits() != deflate.window_bits) {
    deflation.reset();
    deflation = std::make_unique<PayloadDeflation>(deflate.window_bits);
  }
  const std::size_t room = payload.size() + flush_tail.size();
  buffer.clear();
  if (room <= kept_deflate_bytes && buffer.capacity() > kept_deflate_bytes) buffer = ByteBuffer();
  const std::span<std::byte> out = buffer.room(room);
  const auto size = deflation->run(payload, out);
  if (!size) return std::nullopt;
  return out.first(*size - flush_tail.size());
}

struct WebSocketInflation::State {
  State() { check(inflateInit2(&stream, -window_bits_max) == Z_OK, "zlib has memory"); }
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  z_stream stream{};
  ByteBuffer content;
  // A block that was marked as the last one has ended: others may follow in the same message.
  bool has_ended = false;
};

namespace {

// The thread lends it next. A connection that is destroyed within a message frees its own.
std::unique_ptr<WebSocketInflation>& idle_inflation() {
  thread_local std::unique_ptr<WebSocketInflation> idle;
  return idle;
}

// Doubles the room, up to the limit and the byte that shows that it is passed.
void grow_content(ByteBuffer& content, std::size_t bytes_max) {
  const std::size_t wanted = std::max(content.capacity() * 2, first_room_bytes);
  ByteBuffer larger(std::min(wanted, bytes_max + 1));
  larger.append(content.bytes());
  content = std::move(larger);
}

}  // namespace

WebSocketInflation::WebSocketInflation() : state_(std::make_unique<State>()) {}

WebSocketInflation::~WebSocketInflation() = default;

std::unique_ptr<WebSocketInflation> WebSocketInflation::lend() {
  auto inflation = std::exchange(idle_inflation(), nullptr);
  if (inflation == nullptr) return std::make_unique<WebSocketInflation>();
  inflation->reset();
  return inflation;
}

void WebSocketInflation::give_back(std::unique_ptr<WebSocketInflation> inflation) {
  idle_inflation() = std::move(inflation);
}

void WebSocketInflation::reset() {
  inflateReset(&state_->stream);
  state_->content.clear();
  if (state_->content.capacity() > kept_deflate_bytes) state_->content = ByteBuffer();
  state_->has_ended = false;
}

std::span<const std::byte> WebSocketInflation::content() const { return state_->content.bytes(); }

WebSocketInflation::Outcome WebSocketInflation::put(std::span<const std::byte> piece,
                                                    std::size_t bytes_max) {
  z_stream& stream = state_->stream;
  ByteBuffer& content = state_->content;
  const std::size_t limit = std::min(bytes_max, std::numeric_limits<std::size_t>::max() - 1);
  while (!piece.empty()) {
    stream.next_in = to_zlib(piece.data());
    stream.avail_in = to_zlib_size(piece.size());
    const uInt given = stream.avail_in;
    // zlib may hold output back for which it had no room, so it is called until it leaves some.
    do {
      if (state_->has_ended && stream.avail_in == 0) break;
      if (std::exchange(state_->has_ended, false)) inflateReset(&stream);
      if (content.size() == content.capacity()) grow_content(content, limit);
      const std::size_t room =
          std::min(content.capacity() - content.size(), limit + 1 - content.size());
      const std::span<std::byte> out = content.room(to_zlib_size(room));
      stream.next_out = to_zlib(out.data());
      stream.avail_out = to_zlib_size(out.size());
      const int state = inflate(&stream, Z_NO_FLUSH);
      content.commit(out.size() - stream.avail_out);
      if (content.size() > limit) return Outcome::too_long;
      state_->has_ended = state == Z_STREAM_END;
      // Without input and pending output there is no progress, which is no error.
      if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) return Outcome::invalid;
    } while (stream.avail_in > 0 || stream.avail_out == 0);
    piece = piece.subspan(given);
  }
  return Outcome::good;
}

WebSocketInflation::Outcome WebSocketInflation::finish(std::size_t bytes_max) {
  // A peer may leave out the empty block behind one that it has marked as the last.
  if (state_->has_ended) return Outcome::good;
  const Outcome outcome = put(flush_tail, bytes_max);
  if (outcome != Outcome::good) return outcome;
  // zlib says here that it stands behind the end of a block.
  constexpr int is_between_blocks = 128;
  const bool is_whole = (state_->stream.data_type & is_between_blocks) != 0;
  return is_whole ? Outcome::good : Outcome::invalid;
}

}  // namespace corolane::net::detail
