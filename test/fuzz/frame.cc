// SPDX-License-Identifier: MIT
// FrameDecoder: the same frames and the same verdict in any chunking, and headers are read back as
// written.
//
// Input: a limit for the payload (in 256 bytes), cuts, a flow of frames.
#include "rpc/wire/frame.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/base/check.h"
#include "test/fuzz/target.h"

namespace corolane::fuzz {
namespace {

struct DecodedFrame {
  rpc::FrameHeader header;
  std::string extension;
  std::string message;
  bool is_too_large = false;

  friend bool operator==(const DecodedFrame&, const DecodedFrame&) = default;
};

struct Decoded {
  std::vector<DecodedFrame> frames;
  std::optional<Error> error;  // The error that ended the flow.

  friend bool operator==(const Decoded&, const Decoded&) = default;
};

Decoded decode(const Pieces& pieces, std::size_t payload_size_max) {
  Decoded decoded;
  rpc::FrameDecoder decoder(payload_size_max);
  for (const Bytes piece : pieces) {
    decoder.feed(piece);
    for (rpc::Frame frame;;) {
      const auto more = decoder.next(frame);
      if (!more) {
        decoded.error = more.error();
        return decoded;
      }
      if (!*more) break;
      check(frame.is_too_large == (frame.header.payload_size > payload_size_max),
            "a frame above the limit is told");
      if (frame.is_too_large) {
        check(frame.extension.empty() && frame.message.empty(), "its payload is skipped");
      } else {
        check(frame.extension.size() == frame.header.extension_size, "an extension is whole");
        check(frame.extension.size() + frame.message.size() == frame.header.payload_size,
              "a message is the rest of the payload");
      }
      decoded.frames.push_back({.header = frame.header,
                                .extension = std::string(text_of(frame.extension)),
                                .message = std::string(rpc::text_of(frame)),
                                .is_too_large = frame.is_too_large});
    }
  }
  return decoded;
}

void check_header(const rpc::FrameHeader& header) {
  std::array<std::byte, rpc::frame_header_size> bytes;
  rpc::encode(header, bytes);
  rpc::FrameHeader decoded;
  check(rpc::decode(bytes, decoded) && decoded == header, "a header is read back");
}

}  // namespace

void run(Input input) {
  const std::size_t payload_size_max = std::size_t{input.take_byte()} * 256;
  const auto cuts = input.take_cuts();
  const Decoded whole = decode({input.rest()}, payload_size_max);
  for (const DecodedFrame& frame : whole.frames) check_header(frame.header);
  check(decode(cut(input.rest(), cuts), payload_size_max) == whole, "cuts change nothing");
  check(decode(cut_at_every_byte(input.rest()), payload_size_max) == whole,
        "nor do cuts at every byte");
}

}  // namespace corolane::fuzz
