// SPDX-License-Identifier: MIT
// Writes and reads the wire format of protobuf (protobuf.dev/programming-guides/encoding) by hand,
// for messages that every call has: the runtime of protobuf would need most of a call's time.
//
//   const auto put = [&](auto& out) {
//     out.bytes(1, target.id);
//     out.fixed(2, target.epoch);
//   };
//   WireSize size;
//   put(size);
//   std::string bytes(size.count(), 0);
//   WireWriter writer(bytes.data());
//   put(writer);
//
// The bytes are those that protobuf writes when the fields come in the order of their numbers.
// Fields have numbers up to 15. Nothing here suspends or fails, except that a reader is told of
// bytes that it does not understand.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace corolane::rpc::detail {

enum class WireType : std::uint8_t { number = 0, fixed = 1, bytes = 2 };

// The byte before the value of a field.
constexpr std::uint8_t wire_tag(int field, WireType type) {
  return static_cast<std::uint8_t>(field << 3 | static_cast<int>(type));
}

// The bytes of a number of variable length.
constexpr std::size_t varint_bytes(std::uint64_t number) {
  return (static_cast<std::size_t>(std::bit_width(number | 1)) + 6) / 7;
}

// Counts what a WireWriter would write.
class WireSize {
 public:
  // Leave out a value that is empty or zero, as proto3 does.
  void bytes(int field, std::string_view value) {
    if (!value.empty()) element(field, value);
  }
  void fixed(int, std::uint64_t value) { size_ += value == 0 ? 0 : 1 + sizeof value; }
  void number(int, std::uint64_t value) { size_ += value == 0 ? 0 : 1 + varint_bytes(value); }
  // An element of a repeated field.
  void element(int, std::string_view value) { add(value.size()); }
  // A message whose fields `put` writes.
  template <typename F>
  void message(int, const F& put) {
    WireSize inside;
    put(inside);
    add(inside.size_);
  }

  std::size_t count() const { return size_; }

 private:
  void add(std::size_t bytes) { size_ += 1 + varint_bytes(bytes) + bytes; }

  std::size_t size_ = 0;
};

// Writes to memory that has room for all of it.
class WireWriter {
 public:
  explicit WireWriter(char* at) : at_(at) {}

  void bytes(int field, std::string_view value) {
    if (!value.empty()) element(field, value);
  }
  void fixed(int field, std::uint64_t value) {
    if (value == 0) return;
    tag(field, WireType::fixed);
    if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void number(int field, std::uint64_t value) {
    if (value == 0) return;
    tag(field, WireType::number);
    varint(value);
  }
  void element(int field, std::string_view value) {
    begin(field, value.size());
    if (!value.empty()) std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }
  template <typename F>
  void message(int field, const F& put) {
    WireSize inside;
    put(inside);
    begin(field, inside.count());
    put(*this);
  }
  // The same for a message of less than 128 bytes, which need not be counted before.
  template <typename F>
  void short_message(int field, const F& put) {
    tag(field, WireType::bytes);
    char* const size = at_++;
    put(*this);
    *size = static_cast<char>(at_ - size - 1);
  }
  // Where the next byte would be written.
  const char* at() const { return at_; }

 private:
  void tag(int field, WireType type) {
    *at_++ = static_cast<char>(field << 3 | static_cast<int>(type));
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<char>(value | 0x80);
    *at_++ = static_cast<char>(value);
  }
  void begin(int field, std::size_t bytes) {
    tag(field, WireType::bytes);
    varint(bytes);
  }

  char* at_;
};

// Takes the fields of a message one by one.
class WireReader {
 public:
  struct Field {
    std::uint8_t tag = 0;         // wire_tag() of its number and type.
    std::uint64_t number = 0;     // Also of a fixed one.
    std::string_view bytes = {};  // Also those of a message.
  };

  explicit WireReader(std::string_view bytes) : left_(bytes) {}

  // Take the next field, when it is that one and its length or its number has one byte: for the
  // usual fields in their order. Otherwise they change nothing, and next() reads what is left.
  void take_bytes(int field, std::string_view& value) {
    if (!begins_with(wire_tag(field, WireType::bytes)) || left_.size() < 2) return;
    const auto size = static_cast<std::uint8_t>(left_[1]);
    if (size >= 0x80 || size > left_.size() - 2) return;
    value = left_.substr(2, size);
    left_.remove_prefix(std::size_t{2} + size);
  }
  void take_fixed(int field, std::uint64_t& value) {
    if (!begins_with(wire_tag(field, WireType::fixed)) || left_.size() <= sizeof value) return;
    left_.remove_prefix(1);
    value = fixed();
  }

  // False at the end of the bytes, and for a field that cannot be read, or has another type than
  // the three above: then is_broken().
  bool next(Field& field) {
    if (left_.empty()) return false;
    std::uint64_t tag = 0;
    if (!varint(tag)) return false;
    is_broken_ = tag >> 3 == 0 || tag >> 3 > field_max || !value(tag & 7, field);
    field.tag = static_cast<std::uint8_t>(tag);
    return !is_broken_;
  }
  bool is_broken() const { return is_broken_; }

 private:
  static constexpr std::uint64_t field_max = 15;

  bool value(std::uint64_t type, Field& field) {
    switch (static_cast<WireType>(type)) {
      case WireType::number:
        return varint(field.number);
      case WireType::fixed:
        if (left_.size() < sizeof field.number) return false;
        field.number = fixed();
        return true;
      case WireType::bytes: {
        std::uint64_t size = 0;
        if (!varint(size) || size > left_.size()) return false;
        field.bytes = left_.substr(0, size);
        left_.remove_prefix(size);
        return true;
      }
    }
    return false;
  }

  bool begins_with(std::uint8_t tag) const {
    return !left_.empty() && static_cast<std::uint8_t>(left_.front()) == tag;
  }
  // There must be 8 bytes.
  std::uint64_t fixed() {
    std::uint64_t value = 0;
    std::memcpy(&value, left_.data(), sizeof value);
    if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
    left_.remove_prefix(sizeof value);
    return value;
  }
  bool varint(std::uint64_t& value) {
    // Most numbers here have one byte: tags and lengths.
    if (!left_.empty() && static_cast<std::uint8_t>(left_.front()) < 0x80) {
      value = static_cast<std::uint8_t>(left_.front());
      left_.remove_prefix(1);
      return true;
    }
    value = 0;
    for (std::size_t i = 0; i < left_.size() && i < 9; ++i) {
      const auto byte = static_cast<std::uint8_t>(left_[i]);
      value |= std::uint64_t{byte & 0x7fU} << (7 * i);
      if (byte >= 0x80) continue;
      left_.remove_prefix(i + 1);
      return true;
    }
    is_broken_ = true;
    return false;
  }

  std::string_view left_;
  bool is_broken_ = false;
};

}  // namespace corolane::rpc::detail
