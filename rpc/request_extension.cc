#include "rpc/request_extension.h"

#include <cstdint>
#include <span>

#include "rpc/wire.pb.h"

namespace corolane::rpc {
namespace {

constexpr std::uint32_t flag_sampled = 1;

using Half = std::span<std::byte, 8>;
using ConstHalf = std::span<const std::byte, 8>;

std::uint64_t number_of(ConstHalf bytes) {
  std::uint64_t number = 0;
  for (const std::byte byte : bytes) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

void put(std::uint64_t number, Half bytes) {
  for (std::size_t i = bytes.size(); i-- > 0; number >>= 8)
    bytes[i] = static_cast<std::byte>(number);
}

}  // namespace

ExtensionBytes::ExtensionBytes(const TraceContext& trace, std::string_view authorization) {
  if (!trace.is_valid() && authorization.empty()) return;
  RequestExtension extension;
  if (trace.is_valid()) {
    const std::span id(trace.trace_id);
    extension.set_trace_id_high(number_of(id.first<8>()));
    extension.set_trace_id_low(number_of(id.last<8>()));
    extension.set_parent_span_id(trace.span_id);
    extension.set_trace_flags(trace.is_sampled ? flag_sampled : 0);
  }
  if (!authorization.empty()) extension.set_authorization(std::string(authorization));
  const std::size_t size = extension.ByteSizeLong();
  if (size > small_.size()) {
    large_ = extension.SerializeAsString();
    view_ = large_;
    return;
  }
  extension.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(small_.data()));
  view_ = {small_.data(), size};
}

TraceContext trace_of(const RequestExtension& extension) {
  TraceContext trace;
  if (extension.trace_id_high() == 0 && extension.trace_id_low() == 0) return trace;
  const std::span id(trace.trace_id);
  put(extension.trace_id_high(), id.first<8>());
  put(extension.trace_id_low(), id.last<8>());
  trace.span_id = extension.parent_span_id();
  trace.is_sampled = (extension.trace_flags() & flag_sampled) != 0;
  return trace;
}

}  // namespace corolane::rpc
