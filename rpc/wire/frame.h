// SPDX-License-Identifier: MIT
// The frames of a connection: a fixed header of 32 bytes, then an extension, then the message.
//
//     offset size
//          0    4  payload size: of extension and message together
//          4    1  type: one that a receiver does not know is skipped when its highest bit is set,
//                  and else ends the connection
//          5    1  code: of a reply, 0 for success, else the number of a Code
//          6    1  flags of a reply with a code: bit 0, the call may have been executed;
//                bit 1, its handler has not begun
//          7    1  zero
//          8    8  call id: chosen by the caller, unique among its pending calls; 0 for one-way
//                  requests only; of pushes, their number; of unfollow, the group
//         16    8  method id of a request; of a push, the hash of the name of its message
//         24    4  request: time left, in microseconds (0 = no deadline, at most 71 minutes);
//                  reply: retry after, in milliseconds; window: bytes; push: the group that it is
//                  news of, 0 for none
//         28    4  extension size; of a request, a RequestExtension; of a reply or an item, a
//                  ReplyExtension; of a push, a PushExtension (wire.proto)
//
//   rpc::FrameDecoder decoder(/*payload_size_max=*/64 * 1024);
//   decoder.feed(bytes);
//   for (rpc::Frame frame;;) {
//     auto has_frame = decoder.next(frame);
//     if (!has_frame) return has_frame.error();
//     if (!*has_frame) break;
//     serve(frame);
//   }
//
// All numbers are little-endian. The message is a protobuf, or the text of an error. The first
// frame in each direction is a hello: its call id holds hello_magic, its method id a version, its
// message is a Hello. The client names the newest version that it speaks, the server the one that
// both will use. With a shared key, auth follows in each direction (detail/handshake.h).
//
// A request, reply or item above the limit that its receiver has named in the hello fails its own
// call alone: the receiver answers its header and skips the rest.
//
// A call is a request, answered by one reply. A streaming method answers with items and a reply
// that ends them. A method that is called with a stream gets a request without a message, then
// items, and an end. The reader of a stream grants a window of stream_window_bytes when the call
// begins, and more room as it reads. A
// one-way method sends no answer. A server that shuts down says go_away; the client answers with
// its own when its last request is sent, and closes when it has all replies.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "net/one_port/first_bytes.h"

namespace corolane::rpc {

enum class FrameType : std::uint8_t {
  hello = 1,
  request = 2,
  reply = 3,
  cancel = 4,  // The caller has given up: no reply is needed.
  bye = 5,     // The sender closes; code and text say why.
  auth = 6,    // Proves that the sender knows the shared key.
  item = 7,    // The next message of a stream, in either direction.
  window = 8,  // The reader of a stream has room for more bytes of items.
  ping = 9,    // Asks for a pong.
  pong = 10,
  go_away = 11,   // From a server: make no new calls here. From a client: no more requests.
  end = 12,       // From a client: the last item of this call has been sent.
  push = 13,      // From a server: a message that nobody asked for, to the session of the client.
  push_gap = 14,  // From a server: the pushes up to this number that have not come are lost.
  push_ack = 15,  // From a client: it has received the pushes up to this number.
  unfollow = 16,  // From a client: it wants no more news of this group.
};

struct FrameHeader {
  std::uint32_t payload_size = 0;
  FrameType type = FrameType::hello;
  std::uint8_t code = 0;
  bool maybe_executed = false;
  bool not_executed = false;
  bool is_from_handler = false;
  std::uint64_t call_id = 0;
  std::uint64_t method_id = 0;
  std::uint32_t time = 0;
  std::uint32_t extension_size = 0;

  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

inline constexpr std::size_t frame_header_size = 32;
inline constexpr std::uint64_t hello_magic = 0x454e414c4f524f43;  // "COROLANE" in memory order.
// The versions that this end speaks. A change that a peer of an older version need not notice is
// none: a new field, a frame that may be skipped.
struct ProtocolVersions {
  std::uint64_t oldest = 1;
  std::uint64_t newest = 1;
};
inline constexpr std::uint64_t protocol_version = ProtocolVersions{}.newest;
// The longest time left that a request can carry; a longer time is sent as this one.
inline constexpr std::chrono::microseconds time_left_max{0xffff'ffff};
// How much of a stream its writer may send before the reader grants more room; each item counts
// with its header.
inline constexpr std::int64_t stream_window_bytes = 64 * 1024;
// The maximum payload of a frame until the handshake is done: a token and a kibibyte.
inline constexpr std::size_t hello_bytes_max = 5 * 1024;
// The largest payload that any end sends, so that sizes add up within 32 bits.
inline constexpr std::size_t frame_payload_bytes_max = std::size_t{1} << 30;
// Buffers that grew larger for a frame are freed after it: an idle connection keeps next to
// nothing.
inline constexpr std::size_t kept_buffer_bytes = 4 * 1024;

void encode(const FrameHeader& header, std::span<std::byte, frame_header_size> out);

// Whether a frame of this type means something here. The others may be skipped: decode() refuses
// those that may not.
constexpr bool is_known(FrameType type) { return type <= FrameType::unfollow; }
inline constexpr std::uint8_t may_be_skipped_bit = 0x80;

// Fails with invalid_argument when type or sizes make no sense.
Result<void> decode(std::span<const std::byte, frame_header_size> bytes, FrameHeader& header);

// Whether a connection begins with a hello, by the header up to its magic number. No hello has 16
// MiB: the fourth byte is zero, where TLS has a version and HTTP a letter or a space.
net::Match match_hello(std::span<const std::byte> first_bytes);

// A bye, for an end that has no connection yet.
std::string bye_frame(const Error& reason);

// The id of a method on the wire: the 64-bit FNV-1a hash of "package.Service/Method"
// (draft-eastlake-fnv). A server refuses two methods with the same hash.
constexpr std::uint64_t method_id(std::string_view full_name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : full_name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

struct Frame {
  FrameHeader header = {};
  std::span<const std::byte> extension = {};
  std::span<const std::byte> message = {};
  // A request, reply or item above the limit of the decoder: it has neither extension nor message.
  bool is_too_large = false;
};

// The message of an error or a bye; valid as long as the frame.
inline std::string_view text_of(const Frame& frame) {
  return {reinterpret_cast<const char*>(frame.message.data()), frame.message.size()};
}

// The error for a frame or message that its receiver does not take: "a request of 70000 bytes is
// above the limit of 65536".
Error above_limit(std::string_view what, std::size_t size_bytes, std::size_t limit_bytes);

// Cuts frames out of a byte stream that arrives in pieces of any size. Copies only an unfinished
// frame; skips those of unknown types that may be skipped.
class FrameDecoder {
 public:
  // next() returns the header of a larger request, reply or item, and skips the payload as it
  // arrives; any other larger frame is an error.
  explicit FrameDecoder(std::size_t payload_size_max) : payload_size_max_(payload_size_max) {}
  // Takes effect from the next frame on; frees the memory of the present one, which was a hello.
  void set_payload_size_max(std::size_t size) {
    payload_size_max_ = size;
    frees_partial_ = true;
  }

  // Takes the next piece. next() must have been called until it returned no more frames; `bytes`
  // stays valid until it does so again.
  void feed(std::span<const std::byte> bytes);

  // Returns true with the next whole frame, which is valid until the next call of next() or feed();
  // false when more bytes are needed. Fails with invalid_argument or resource_exhausted on a
  // malformed frame; the stream cannot be continued after that.
  Result<bool> next(Frame& frame);

  // True when a frame has begun that next() needs more bytes for.
  bool has_unfinished() const {
    return to_skip_bytes_ > 0 || (!partial_.empty() && !partial_done_);
  }
  // How many frames have ended, those that were skipped included.
  std::uint64_t ended_count() const { return ended_count_; }
  // The memory for an unfinished frame.
  std::size_t held_bytes() const { return partial_.capacity(); }

 private:
  bool skip();
  void skip_payload(const FrameHeader& header, bool in_pieces);

  std::size_t payload_size_max_;
  std::size_t to_skip_bytes_ = 0;  // The rest of a payload that is of no use.
  std::span<const std::byte> input_;
  std::vector<std::byte> partial_;  // The beginning of a frame, from earlier pieces.
  bool partial_done_ = false;       // `partial_` holds the frame that next() returned last.
  bool frees_partial_ = false;
  std::uint64_t ended_count_ = 0;
};

}  // namespace corolane::rpc
