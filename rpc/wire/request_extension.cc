// SPDX-License-Identifier: MIT
#include "rpc/wire/request_extension.h"

#include <cstdint>
#include <span>
#include <utility>

#include "rpc/wire/wire.pb.h"

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

void put(const Principal& principal, WirePrincipal& out) {
  out.Clear();
  out.set_id(principal.id);
  for (const std::string& role : principal.roles) out.add_roles(role);
}

void put(const ObjectTarget& target, WireObject& out) {
  out.Clear();
  out.set_id(target.id.data(), target.id.size());
  out.set_node_epoch(target.node_epoch);
  out.set_partition_epoch(target.partition_epoch);
  if (target.request_id) {
    out.set_request_caller(target.request_id.caller.data(), target.request_id.caller.size());
    out.set_request_sequence(target.request_id.sequence);
    if (const std::string_view scope = target.request_id.scope; !scope.empty()) {
      out.set_request_scope(scope.data(), scope.size());
    }
  }
  for (const ObjectCall& call : target.chain) {
    WireObjectCall& added = *out.add_chain();
    added.set_method(call.method.data(), call.method.size());
    added.set_id(call.id.data(), call.id.size());
  }
}

void put(const Headers* headers, google::protobuf::RepeatedPtrField<WireHeader>& out) {
  if (headers == nullptr) return;
  for (const auto& [name, value] : *headers) {
    WireHeader& added = *out.Add();
    added.set_name(name.data(), name.size());
    added.set_value(value.data(), value.size());
  }
}

void read(const google::protobuf::RepeatedPtrField<WireHeader>& from, Headers& headers) {
  headers.clear();
  for (const WireHeader& header : from) headers.add(header.name(), header.value());
}

}  // namespace

void set_trace(const TraceContext& trace, RequestExtension& extension) {
  const std::span id(trace.trace_id);
  const bool is_valid = trace.is_valid();
  extension.set_trace_id_high(is_valid ? number_of(id.first<8>()) : 0);
  extension.set_trace_id_low(is_valid ? number_of(id.last<8>()) : 0);
  extension.set_parent_span_id(is_valid ? trace.span_id : 0);
  extension.set_trace_flags(is_valid && trace.is_sampled ? flag_sampled : 0);
}

ExtensionBytes::ExtensionBytes(const TraceContext& trace, const Principal* principal,
                               const ObjectTarget* object, const Headers* headers) {
  const bool has_principal = principal != nullptr && !principal->is_anonymous();
  const bool has_headers = headers != nullptr && !headers->empty();
  if (!trace.is_valid() && !has_principal && !has_headers && object == nullptr) return;
  // Clear() would free the object field's memory. So there is one message with an object and one
  // without; both are set field by field and keep their memory.
  static thread_local RequestExtension without_object;
  static thread_local RequestExtension with_object;
  RequestExtension& extension = object == nullptr ? without_object : with_object;
  set_trace(trace, extension);
  if (has_principal) {
    put(*principal, *extension.mutable_principal());
  } else if (extension.has_principal()) {
    extension.clear_principal();
  }
  extension.mutable_headers()->Clear();
  put(headers, *extension.mutable_headers());
  if (object != nullptr) put(*object, *extension.mutable_object());
  const std::size_t size = extension.ByteSizeLong();
  if (size > small_.size()) {
    large_ = extension.SerializeAsString();
    view_ = large_;
    return;
  }
  extension.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(small_.data()));
  view_ = {small_.data(), size};
}

std::string reply_extension(std::string_view detail, const Headers* headers,
                            const Headers* trailers) {
  const auto has_any = [](const Headers* of) { return of != nullptr && !of->empty(); };
  if (detail.empty() && !has_any(headers) && !has_any(trailers)) return {};
  ReplyExtension extension;
  extension.set_detail(detail.data(), detail.size());
  put(headers, *extension.mutable_headers());
  put(trailers, *extension.mutable_trailers());
  return extension.SerializeAsString();
}

std::string read_reply_extension(std::string_view bytes, ReplyHeaders* headers) {
  ReplyExtension extension;
  // A malformed one is as good as none: it says nothing that a call needs.
  if (!extension.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  if (headers != nullptr) {
    if (extension.headers_size() > 0) read(extension.headers(), headers->headers);
    read(extension.trailers(), headers->trailers);
  }
  return std::move(*extension.mutable_detail());
}

void read_headers(const RequestExtension& extension, Headers& headers) {
  read(extension.headers(), headers);
}

Principal principal_of(const RequestExtension& extension) {
  const WirePrincipal& principal = extension.principal();
  return {.id = principal.id(), .roles = {principal.roles().begin(), principal.roles().end()}};
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

ReceivedTarget::ReceivedTarget(const RequestExtension& extension, Door door)
    : has_target_(extension.has_object()) {
  if (!has_target_) return;
  const WireObject& object = extension.object();
  target_ = {
      .id = object.id(),
      .request_id = {.caller = object.request_caller(), .sequence = object.request_sequence()}};
  if (door == Door::clients) return;
  chain_.reserve(static_cast<std::size_t>(object.chain_size()));
  for (const WireObjectCall& call : object.chain()) {
    chain_.push_back({.method = call.method(), .id = call.id()});
  }
  target_.node_epoch = object.node_epoch();
  target_.partition_epoch = object.partition_epoch();
  target_.request_id.scope = object.request_scope();
  target_.chain = chain_;
}

}  // namespace corolane::rpc
