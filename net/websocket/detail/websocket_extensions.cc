// SPDX-License-Identifier: MIT
#include "net/websocket/detail/websocket_extensions.h"

#include <algorithm>
#include <utility>

namespace corolane::net::detail {
namespace {

constexpr std::string_view permessage_deflate = "permessage-deflate";

bool is_extension_token(char symbol) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return (symbol >= 'a' && symbol <= 'z') || (symbol >= 'A' && symbol <= 'Z') ||
         (symbol >= '0' && symbol <= '9') || others.contains(symbol);
}

// Reads the parts of one header from its front, with the space before them.
class ExtensionText {
 public:
  explicit ExtensionText(std::string_view text) : rest_(text) {}

  bool is_empty() {
    skip_space();
    return rest_.empty();
  }
  bool take(char symbol) {
    skip_space();
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Empty when there is none.
  std::string take_token() {
    skip_space();
    const auto end = std::ranges::find_if_not(rest_, is_extension_token);
    std::string token(rest_.begin(), end);
    rest_.remove_prefix(token.size());
    return token;
  }
  // A token, with or without quotes. Empty when there is none.
  std::string take_value() {
    if (!take('"')) return take_token();
    std::string value;
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\') rest_.remove_prefix(1);
      if (rest_.empty() || !is_extension_token(rest_.front())) return {};
      value += rest_.front();
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) return {};
    rest_.remove_prefix(1);
    return value;
  }

 private:
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

  std::string_view rest_;
};

std::optional<WebSocketExtension> read_extension(ExtensionText& text) {
  WebSocketExtension extension{.name = text.take_token(), .parameters = {}};
  if (extension.name.empty()) return std::nullopt;
  while (text.take(';')) {
    WebSocketExtension::Parameter parameter{.name = text.take_token(), .value = {}};
    if (parameter.name.empty()) return std::nullopt;
    if (text.take('=')) {
      parameter.value = text.take_value();
      if (parameter.value->empty()) return std::nullopt;
    }
    extension.parameters.push_back(std::move(parameter));
  }
  return extension;
}

// Appends the extensions of one header. An element of the list may be empty.
bool read_extension_list(std::string_view header, std::vector<WebSocketExtension>& all) {
  ExtensionText text(header);
  while (!text.is_empty()) {
    if (text.take(',')) continue;
    auto extension = read_extension(text);
    if (!extension || (!text.take(',') && !text.is_empty())) return false;
    all.push_back(*std::move(extension));
  }
  return true;
}

// Zero for a parameter without a value.
struct DeflateParameters {
  std::optional<int> server_no_context_takeover;
  std::optional<int> client_no_context_takeover;
  std::optional<int> server_max_window_bits;
  std::optional<int> client_max_window_bits;
};

// 8 to 15, without leading zeros.
std::optional<int> read_window_bits(std::string_view text) {
  constexpr int bits_min = 8;
  constexpr int bits_max = 15;
  for (int bits = bits_min; bits <= bits_max; ++bits) {
    if (text == std::to_string(bits)) return bits;
  }
  return std::nullopt;
}

// Nothing for a parameter that is unknown, repeated, or has a wrong value.
std::optional<DeflateParameters> read_deflate_parameters(const WebSocketExtension& extension) {
  DeflateParameters all;
  for (const auto& [name, value] : extension.parameters) {
    std::optional<int>* place = nullptr;
    if (name == "server_no_context_takeover") place = &all.server_no_context_takeover;
    if (name == "client_no_context_takeover") place = &all.client_no_context_takeover;
    if (name == "server_max_window_bits") place = &all.server_max_window_bits;
    if (name == "client_max_window_bits") place = &all.client_max_window_bits;
    if (place == nullptr || place->has_value()) return std::nullopt;
    const bool may_have_value = name.ends_with("_bits");
    const bool may_lack_value = name != "server_max_window_bits";
    if (value ? !may_have_value : !may_lack_value) return std::nullopt;
    *place = value ? read_window_bits(*value) : 0;
    if (!place->has_value()) return std::nullopt;
  }
  return all;
}

}  // namespace

std::optional<std::vector<WebSocketExtension>> read_websocket_extensions(
    const HttpHeaders& headers) {
  std::vector<WebSocketExtension> all;
  for (const auto& [name, value] : headers) {
    if (!is_same_name(name, "Sec-WebSocket-Extensions")) continue;
    if (!read_extension_list(value, all)) return std::nullopt;
  }
  return all;
}

std::optional<WebSocketDeflateAnswer> accept_deflate_offer(
    const std::vector<WebSocketExtension>& offers) {
  constexpr int zlib_window_bits_min = 9;
  for (const WebSocketExtension& offer : offers) {
    if (offer.name != permessage_deflate) continue;
    const auto parameters = read_deflate_parameters(offer);
    if (!parameters) continue;
    WebSocketDeflateAnswer answer{.deflate = {}, .text = std::string(websocket_deflate_offer)};
    if (parameters->server_max_window_bits) {
      const int bits = *parameters->server_max_window_bits;
      if (bits < zlib_window_bits_min) continue;
      answer.deflate.window_bits = bits;
      answer.text += "; server_max_window_bits=" + std::to_string(bits);
    }
    return answer;
  }
  return std::nullopt;
}

std::optional<WebSocketDeflate> read_deflate_answer(const WebSocketExtension& answer) {
  if (answer.name != permessage_deflate) return std::nullopt;
  const auto parameters = read_deflate_parameters(answer);
  if (!parameters) return std::nullopt;
  // The one was asked for, and the other was not offered.
  if (!parameters->server_no_context_takeover || parameters->client_max_window_bits) {
    return std::nullopt;
  }
  return WebSocketDeflate{};
}

}  // namespace corolane::net::detail
