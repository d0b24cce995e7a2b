// SPDX-License-Identifier: MIT
#include "rpc/wire/frame.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "coroutine/base/check.h"
#include "net/stream.h"

namespace corolane::rpc {
namespace {

constexpr std::uint8_t flag_maybe_executed = 1;
constexpr std::uint8_t flag_not_executed = 2;
constexpr std::uint8_t flag_from_handler = 4;

template <typename T>
void put(std::span<std::byte, frame_header_size> out, std::size_t offset, T value) {
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  std::memcpy(out.data() + offset, &value, sizeof value);
}

template <typename T>
T get(std::span<const std::byte, frame_header_size> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  return value;
}

// Its sender can be told of a failure without ending the connection.
bool belongs_to_a_call(FrameType type) {
  return type == FrameType::request || type == FrameType::reply || type == FrameType::item;
}

}  // namespace

Error above_limit(std::string_view what, std::size_t size_bytes, std::size_t limit_bytes) {
  return Error(Code::resource_exhausted, std::string(what) + " of " + std::to_string(size_bytes) +
                                             " bytes is above the limit of " +
                                             std::to_string(limit_bytes));
}

void encode(const FrameHeader& header, std::span<std::byte, frame_header_size> out) {
  put(out, 0, header.payload_size);
  put(out, 4, static_cast<std::uint8_t>(header.type));
  put(out, 5, header.code);
  put(out, 6,
      static_cast<std::uint8_t>((header.maybe_executed ? flag_maybe_executed : 0) |
                                (header.not_executed ? flag_not_executed : 0) |
                                (header.is_from_handler ? flag_from_handler : 0)));
  put(out, 7, std::uint8_t{0});
  put(out, 8, header.call_id);
  put(out, 16, header.method_id);
  put(out, 24, header.time);
  put(out, 28, header.extension_size);
}

Result<void> decode(std::span<const std::byte, frame_header_size> bytes, FrameHeader& header) {
  const auto type = get<std::uint8_t>(bytes, 4);
  const bool may_be_skipped = (type & may_be_skipped_bit) != 0;
  if (type == 0 || (!is_known(static_cast<FrameType>(type)) && !may_be_skipped)) {
    return Error(Code::invalid_argument,
                 "not a corolane frame: its type is " + std::to_string(type));
  }
  const auto flags = get<std::uint8_t>(bytes, 6);
  header = {.payload_size = get<std::uint32_t>(bytes, 0),
            .type = static_cast<FrameType>(type),
            .code = get<std::uint8_t>(bytes, 5),
            .maybe_executed = (flags & flag_maybe_executed) != 0,
            .not_executed = (flags & flag_not_executed) != 0,
            .is_from_handler = (flags & flag_from_handler) != 0,
            .call_id = get<std::uint64_t>(bytes, 8),
            .method_id = get<std::uint64_t>(bytes, 16),
            .time = get<std::uint32_t>(bytes, 24),
            .extension_size = get<std::uint32_t>(bytes, 28)};
  if (is_known(header.type) && header.extension_size > header.payload_size) {
    return Error(Code::invalid_argument,
                 "not a corolane frame: an extension of " + std::to_string(header.extension_size) +
                     " bytes in a payload of " + std::to_string(header.payload_size));
  }
  return {};
}

net::Match match_hello(std::span<const std::byte> first_bytes) {
  // The header of a hello has there: a size of two bytes, flags of no meaning, the magic number.
  static_assert(hello_bytes_max < 0x1'00'00);
  std::array<std::byte, frame_header_size> hello;
  encode({.type = FrameType::hello, .call_id = hello_magic}, hello);
  constexpr std::size_t magic_end = 16;
  for (std::size_t at = 2; at < std::min(first_bytes.size(), magic_end); ++at) {
    if (at > 4 && at < 8) continue;
    if (first_bytes[at] != hello[at]) return net::Match::no;
  }
  return first_bytes.size() < magic_end ? net::Match::maybe : net::Match::yes;
}

std::string bye_frame(const Error& reason) {
  std::array<std::byte, frame_header_size> header;
  encode({.payload_size = static_cast<std::uint32_t>(reason.message().size()),
          .type = FrameType::bye,
          .code = static_cast<std::uint8_t>(reason.code())},
         header);
  return std::string(net::text_of(header)).append(reason.message());
}

void FrameDecoder::feed(std::span<const std::byte> bytes) {
  check(input_.empty(), "all frames of a piece are taken before the next piece");
  input_ = bytes;
}

// Returns whether nothing is left to skip.
bool FrameDecoder::skip() {
  if (to_skip_bytes_ == 0) return true;
  const std::size_t count = std::min(to_skip_bytes_, input_.size());
  input_ = input_.subspan(count);
  to_skip_bytes_ -= count;
  if (to_skip_bytes_ == 0) ++ended_count_;
  return to_skip_bytes_ == 0;
}

void FrameDecoder::skip_payload(const FrameHeader& header, bool in_pieces) {
  if (in_pieces) {
    partial_.clear();
  } else {
    input_ = input_.subspan(frame_header_size);
  }
  to_skip_bytes_ = header.payload_size;
  if (to_skip_bytes_ == 0) ++ended_count_;
}

Result<bool> FrameDecoder::next(Frame& frame) {
  if (partial_done_) {
    partial_done_ = false;
    partial_.clear();
    const bool frees = std::exchange(frees_partial_, false);
    if (frees || partial_.capacity() > kept_buffer_bytes) std::vector<std::byte>().swap(partial_);
  }
  // Moves bytes of the input to the unfinished frame until it has `size` bytes.
  const auto complete_to = [&](std::size_t size) {
    const std::size_t count = std::min(size - std::min(size, partial_.size()), input_.size());
    partial_.insert(partial_.end(), input_.begin(),
                    input_.begin() + static_cast<std::ptrdiff_t>(count));
    input_ = input_.subspan(count);
    return partial_.size() >= size;
  };

  FrameHeader& header = frame.header;
  bool in_pieces = false;
  for (;;) {
    if (!skip()) return false;
    in_pieces = !partial_.empty() || input_.size() < frame_header_size;
    if (in_pieces && !complete_to(frame_header_size)) return false;
    const std::byte* const begin = in_pieces ? partial_.data() : input_.data();
    const std::span<const std::byte, frame_header_size> header_bytes(begin, frame_header_size);
    if (auto decoded = decode(header_bytes, header); !decoded) return decoded.error();
    if (is_known(header.type)) break;
    skip_payload(header, in_pieces);
  }
  frame.extension = frame.message = {};
  frame.is_too_large = header.payload_size > payload_size_max_;
  if (frame.is_too_large) {
    if (!belongs_to_a_call(header.type)) {
      return above_limit("a frame", header.payload_size, payload_size_max_);
    }
    skip_payload(header, in_pieces);
    return true;
  }
  const std::size_t frame_size = frame_header_size + header.payload_size;
  if (in_pieces || input_.size() < frame_size) {
    if (!complete_to(frame_size)) return false;
    partial_done_ = true;
  }
  const std::span<const std::byte> payload =
      (partial_done_ ? std::span<const std::byte>(partial_) : input_.first(frame_size))
          .subspan(frame_header_size);
  if (!partial_done_) input_ = input_.subspan(frame_size);
  ++ended_count_;
  frame.extension = payload.first(header.extension_size);
  frame.message = payload.subspan(header.extension_size);
  return true;
}

}  // namespace corolane::rpc
