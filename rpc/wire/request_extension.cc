// SPDX-License-Identifier: MIT
#include "rpc/wire/request_extension.h"

#include <cstdint>
#include <span>
#include <utility>

#include "rpc/wire/detail/wire_format.h"
#include "rpc/wire/wire.pb.h"

namespace corolane::rpc {
namespace {

using detail::wire_tag;
using detail::WireReader;
using detail::WireSize;
using detail::WireType;
using detail::WireWriter;

constexpr std::uint32_t flag_sampled = 1;

using Half = std::span<std::byte, 8>;
using ConstHalf = std::span<const std::byte, 8>;

std::uint64_t number_of(ConstHalf bytes) {
  std::uint64_t number = 0;
  for (const std::byte byte : bytes) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

struct Halves {
  std::uint64_t high;
  std::uint64_t low;
};

Halves halves_of(const TraceContext& trace) {
  const std::span id(trace.trace_id);
  return {.high = number_of(id.first<8>()), .low = number_of(id.last<8>())};
}

void put(std::uint64_t number, Half bytes) {
  for (std::size_t i = bytes.size(); i-- > 0; number >>= 8)
    bytes[i] = static_cast<std::byte>(number);
}

// The fields in the order of their numbers, to a WireSize or a WireWriter.
template <typename Out>
void write(const TraceContext& trace, Out& out) {
  if (!trace.is_valid()) return;
  const auto [high, low] = halves_of(trace);
  out.fixed(RequestExtension::kTraceIdHighFieldNumber, high);
  out.fixed(RequestExtension::kTraceIdLowFieldNumber, low);
  out.fixed(RequestExtension::kParentSpanIdFieldNumber, trace.span_id);
  out.number(RequestExtension::kTraceFlagsFieldNumber, trace.is_sampled ? flag_sampled : 0);
}

template <typename Out>
void write(const ObjectTarget& target, Out& out) {
  out.bytes(WireObject::kIdFieldNumber, target.id);
  out.fixed(WireObject::kNodeEpochFieldNumber, target.node_epoch);
  out.fixed(WireObject::kPartitionEpochFieldNumber, target.partition_epoch);
  if (target.request_id) {
    out.bytes(WireObject::kRequestCallerFieldNumber, target.request_id.caller);
    out.number(WireObject::kRequestSequenceFieldNumber, target.request_id.sequence);
  }
  for (const ObjectCall& call : target.chain) {
    out.message(WireObject::kChainFieldNumber, [&](auto& inside) {
      inside.bytes(WireObjectCall::kMethodFieldNumber, call.method);
      inside.bytes(WireObjectCall::kIdFieldNumber, call.id);
    });
  }
  if (target.request_id) {
    out.bytes(WireObject::kRequestScopeFieldNumber, target.request_id.scope);
  }
}

// Whether it fits into the small memory of an ExtensionBytes, beside a trace.
bool is_short(const ObjectTarget& target) {
  // The numbers, and a tag and a size for each text and for the whole.
  constexpr std::size_t numbers_bytes = 9 + 9 + 11 + 3 * 2 + 2;
  constexpr std::size_t trace_bytes = 3 * 9 + 2;
  constexpr std::size_t texts_bytes_max = ExtensionBytes::small_bytes - numbers_bytes - trace_bytes;
  const std::size_t texts_bytes =
      target.id.size() + target.request_id.caller.size() + target.request_id.scope.size();
  return target.chain.empty() && texts_bytes <= texts_bytes_max;
}

template <typename Out>
void write(const Principal& principal, Out& out) {
  out.bytes(WirePrincipal::kIdFieldNumber, principal.id);
  for (const std::string& role : principal.roles) {
    out.element(WirePrincipal::kRolesFieldNumber, role);
  }
}

template <typename Out>
void write(const Headers& headers, Out& out) {
  for (const auto& [name, value] : headers) {
    out.message(RequestExtension::kHeadersFieldNumber, [&](auto& inside) {
      inside.bytes(WireHeader::kNameFieldNumber, name);
      inside.bytes(WireHeader::kValueFieldNumber, value);
    });
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

bool parse(google::protobuf::Message& message, std::string_view bytes) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Most calls have no such text: then nothing is allocated.
template <typename F>
void set(std::string_view text, const std::string& present, const F& place) {
  if (!text.empty() || !present.empty()) place()->assign(text);
}

// Sets each field, and keeps the memory of the strings. False for bytes that are not a usual
// object: then it has any content.
bool read_usual(std::string_view bytes, WireObject& object) {
  std::string_view id;
  std::string_view caller;
  std::string_view scope;
  std::uint64_t node_epoch = 0;
  std::uint64_t partition_epoch = 0;
  std::uint64_t sequence = 0;
  if (object.chain_size() > 0) object.mutable_chain()->Clear();
  WireReader reader(bytes);
  reader.take_bytes(WireObject::kIdFieldNumber, id);
  reader.take_fixed(WireObject::kNodeEpochFieldNumber, node_epoch);
  reader.take_fixed(WireObject::kPartitionEpochFieldNumber, partition_epoch);
  for (WireReader::Field field; reader.next(field);) {
    switch (field.tag) {
      case wire_tag(WireObject::kIdFieldNumber, WireType::bytes):
        id = field.bytes;
        break;
      case wire_tag(WireObject::kNodeEpochFieldNumber, WireType::fixed):
        node_epoch = field.number;
        break;
      case wire_tag(WireObject::kPartitionEpochFieldNumber, WireType::fixed):
        partition_epoch = field.number;
        break;
      case wire_tag(WireObject::kRequestCallerFieldNumber, WireType::bytes):
        caller = field.bytes;
        break;
      case wire_tag(WireObject::kRequestSequenceFieldNumber, WireType::number):
        sequence = field.number;
        break;
      case wire_tag(WireObject::kChainFieldNumber, WireType::bytes):
        if (!parse(*object.add_chain(), field.bytes)) return false;
        break;
      case wire_tag(WireObject::kRequestScopeFieldNumber, WireType::bytes):
        scope = field.bytes;
        break;
      default:
        return false;
    }
  }
  set(id, object.id(), [&] { return object.mutable_id(); });
  object.set_node_epoch(node_epoch);
  object.set_partition_epoch(partition_epoch);
  set(caller, object.request_caller(), [&] { return object.mutable_request_caller(); });
  object.set_request_sequence(sequence);
  set(scope, object.request_scope(), [&] { return object.mutable_request_scope(); });
  return !reader.is_broken();
}

// Protobuf would give up the memory of the object and allocate it again.
bool read_usual(std::string_view bytes, RequestExtension& extension) {
  std::uint64_t trace_id_high = 0;
  std::uint64_t trace_id_low = 0;
  std::uint64_t parent_span_id = 0;
  std::uint32_t trace_flags = 0;
  bool has_object = false;
  bool has_principal = false;
  if (extension.headers_size() > 0) extension.mutable_headers()->Clear();
  WireReader reader(bytes);
  std::string_view object;
  reader.take_bytes(RequestExtension::kObjectFieldNumber, object);
  if (object.data() != nullptr) {
    has_object = true;
    if (!read_usual(object, *extension.mutable_object())) return false;
  }
  for (WireReader::Field field; reader.next(field);) {
    switch (field.tag) {
      case wire_tag(RequestExtension::kTraceIdHighFieldNumber, WireType::fixed):
        trace_id_high = field.number;
        break;
      case wire_tag(RequestExtension::kTraceIdLowFieldNumber, WireType::fixed):
        trace_id_low = field.number;
        break;
      case wire_tag(RequestExtension::kParentSpanIdFieldNumber, WireType::fixed):
        parent_span_id = field.number;
        break;
      case wire_tag(RequestExtension::kTraceFlagsFieldNumber, WireType::number):
        trace_flags = static_cast<std::uint32_t>(field.number);
        break;
      case wire_tag(RequestExtension::kObjectFieldNumber, WireType::bytes):
        if (std::exchange(has_object, true)) return false;
        if (!read_usual(field.bytes, *extension.mutable_object())) return false;
        break;
      case wire_tag(RequestExtension::kPrincipalFieldNumber, WireType::bytes):
        if (std::exchange(has_principal, true)) return false;
        if (!parse(*extension.mutable_principal(), field.bytes)) return false;
        break;
      case wire_tag(RequestExtension::kHeadersFieldNumber, WireType::bytes):
        if (!parse(*extension.add_headers(), field.bytes)) return false;
        break;
      default:
        return false;
    }
  }
  extension.set_trace_id_high(trace_id_high);
  extension.set_trace_id_low(trace_id_low);
  extension.set_parent_span_id(parent_span_id);
  extension.set_trace_flags(trace_flags);
  if (!has_object) extension.clear_object();
  if (!has_principal) extension.clear_principal();
  return !reader.is_broken();
}

}  // namespace

void set_trace(const TraceContext& trace, RequestExtension& extension) {
  const bool is_valid = trace.is_valid();
  const auto [high, low] = halves_of(trace);
  extension.set_trace_id_high(is_valid ? high : 0);
  extension.set_trace_id_low(is_valid ? low : 0);
  extension.set_parent_span_id(is_valid ? trace.span_id : 0);
  extension.set_trace_flags(is_valid && trace.is_sampled ? flag_sampled : 0);
}

ExtensionBytes::ExtensionBytes(const TraceContext& trace, const Principal* principal,
                               const ObjectTarget* object, const Headers* headers) {
  if (principal != nullptr && principal->is_anonymous()) principal = nullptr;
  const bool has_more = principal != nullptr || (headers != nullptr && !headers->empty());
  if (!has_more && (object == nullptr || is_short(*object))) {
    WireWriter writer(small_.data());
    write(trace, writer);
    if (object != nullptr) {
      writer.short_message(RequestExtension::kObjectFieldNumber,
                           [&](auto& inside) { write(*object, inside); });
    }
    view_ = {small_.data(), static_cast<std::size_t>(writer.at() - small_.data())};
    return;
  }
  const auto write_all = [&](auto& out) {
    write(trace, out);
    if (object != nullptr) {
      out.message(RequestExtension::kObjectFieldNumber,
                  [&](auto& inside) { write(*object, inside); });
    }
    if (principal != nullptr) {
      out.message(RequestExtension::kPrincipalFieldNumber,
                  [&](auto& inside) { write(*principal, inside); });
    }
    if (headers != nullptr) write(*headers, out);
  };
  WireSize size;
  write_all(size);
  if (size.count() == 0) return;
  char* begin = small_.data();
  if (size.count() > small_.size()) {
    large_.resize(size.count());
    begin = large_.data();
  }
  WireWriter writer(begin);
  write_all(writer);
  view_ = {begin, size.count()};
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

bool read_extension(std::string_view bytes, RequestExtension& extension) {
  if (read_usual(bytes, extension)) return true;
  return extension.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void read_headers(const RequestExtension& extension, Headers& headers) {
  read(extension.headers(), headers);
}

Principal principal_of(const RequestExtension& extension) {
  const WirePrincipal& principal = extension.principal();
  return {.id = principal.id(), .roles = {principal.roles().begin(), principal.roles().end()}};
}

bool has_trace(const RequestExtension& extension) {
  return extension.trace_id_high() != 0 || extension.trace_id_low() != 0;
}

TraceContext trace_of(const RequestExtension& extension) {
  TraceContext trace;
  if (!has_trace(extension)) return trace;
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
  target_.id = object.id();
  target_.request_id.caller = object.request_caller();
  target_.request_id.sequence = object.request_sequence();
  if (door == Door::clients) return;
  target_.node_epoch = object.node_epoch();
  target_.partition_epoch = object.partition_epoch();
  target_.request_id.scope = object.request_scope();
  if (object.chain_size() == 0) return;
  chain_.reserve(static_cast<std::size_t>(object.chain_size()));
  for (const WireObjectCall& call : object.chain()) {
    chain_.push_back({.method = call.method(), .id = call.id()});
  }
  target_.chain = chain_;
}

}  // namespace corolane::rpc
