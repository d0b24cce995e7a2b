// SPDX-License-Identifier: MIT
// Headers: short facts beside the message of a request or reply, which filters and handlers of both
// sides read and set.
//
//   inline constexpr rpc::Header<std::string_view> locale("locale");
//   inline constexpr rpc::Header<std::int64_t> server_tick("server-tick");
//
//   // The caller:
//   rpc::Headers headers;
//   headers.set(locale, "de");
//   auto reply = chess.move(request, {.headers = &headers});
//
//   // A handler or a filter:
//   const std::string_view language = context.headers().get(locale).value_or("en");
//   context.reply_headers().set(server_tick, 17);
//
// Frames carry them as they are. Over HTTP they are header fields: values are printable ASCII, or
// any bytes when the name ends in "-bin" (in base64, as gRPC and Connect send them).
#pragma once

#include <google/protobuf/message_lite.h>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "coroutine/base/result.h"
#include "net/http/http_headers.h"

namespace corolane::rpc {

namespace detail {

constexpr bool is_header_name(std::string_view name) {
  for (const char c : name) {
    const bool is_allowed =
        (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (!is_allowed) return false;
  }
  return !name.empty();
}
constexpr bool is_binary(std::string_view header_name) { return header_name.ends_with("-bin"); }

template <typename T>
inline constexpr bool is_message = std::is_base_of_v<google::protobuf::MessageLite, T>;

}  // namespace detail

// The name of a header and the type of its value: std::string_view, an integer, bool or a protobuf
// message. The name is in small letters, and that of a message ends in "-bin": anything else does
// not compile.
template <typename T>
class Header {
 public:
  consteval explicit Header(std::string_view name) : name_(name) {
    if (!detail::is_header_name(name)) throw "a header's name has a-z, 0-9, '-', '_' and '.'";
    if (detail::is_message<T> != detail::is_binary(name)) {
      throw "the name of a message, and of nothing else, ends in -bin";
    }
  }
  constexpr std::string_view name() const { return name_; }

 private:
  std::string_view name_;
};

class Headers {
 public:
  // For names and values together. More cannot be sent.
  static constexpr std::size_t bytes_max = 8 * 1024;

  // The first value; nothing when there is none, or none of that type. A text is valid until the
  // headers change.
  template <typename T>
  std::optional<T> get(const Header<T>& header) const;
  // Replaces all values of that name.
  template <typename T>
  void set(const Header<T>& header, const std::type_identity_t<T>& value);

  // By name, for headers that are not known beforehand.
  std::string_view find(std::string_view name) const { return fields_.find(name); }
  bool contains(std::string_view name) const;
  void add(std::string_view name, std::string_view value) { fields_.add(name, value); }
  void remove(std::string_view name);

  // In the order in which they were added: pairs of name and value.
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  bool empty() const { return fields_.empty(); }
  std::size_t size() const { return fields_.size(); }
  void clear() { fields_.clear(); }

  // Fails when they cannot be sent: with resource_exhausted above bytes_max, with invalid_argument
  // for a wrong name or value.
  Result<void> check() const;

  friend bool operator==(const Headers&, const Headers&) = default;

 private:
  net::HttpHeaders fields_;
};

// The parts of a reply beside its message: headers go before it, or before the first message of a
// stream; trailers behind the last one, when the outcome is known. An error has both.
struct ReplyHeaders {
  Headers headers = {};
  Headers trailers = {};
};

template <typename T>
std::optional<T> Headers::get(const Header<T>& header) const {
  if (!contains(header.name())) return std::nullopt;
  const std::string_view value = find(header.name());
  if constexpr (detail::is_message<T>) {
    T message;
    if (!message.ParseFromArray(value.data(), static_cast<int>(value.size()))) return std::nullopt;
    return message;
  } else if constexpr (std::same_as<T, bool>) {
    if (value != "true" && value != "false") return std::nullopt;
    return value == "true";
  } else if constexpr (std::integral<T>) {
    T number{};
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem != std::errc() || end != value.data() + value.size()) return std::nullopt;
    return number;
  } else {
    return value;
  }
}

template <typename T>
void Headers::set(const Header<T>& header, const std::type_identity_t<T>& value) {
  remove(header.name());
  if constexpr (detail::is_message<T>) {
    add(header.name(), value.SerializeAsString());
  } else if constexpr (std::same_as<T, bool>) {
    add(header.name(), value ? "true" : "false");
  } else if constexpr (std::integral<T>) {
    add(header.name(), std::to_string(value));
  } else {
    add(header.name(), value);
  }
}

}  // namespace corolane::rpc
