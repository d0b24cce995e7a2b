// SPDX-License-Identifier: MIT
// JsonWriter: walks a message with a separate stack, so that no coroutine stack is too small.
#include <google/protobuf/descriptor.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "coroutine/base/encoding.h"
#include "coroutine/base/text.h"
#include "rpc/http/detail/json_any.h"
#include "rpc/http/detail/json_text.h"
#include "rpc/http/json.h"

namespace corolane::rpc {
namespace {

namespace pb = google::protobuf;
using WellKnown = pb::Descriptor::WellKnownType;
using CppType = pb::FieldDescriptor::CppType;

template <typename Number>
void append_number(std::string& json, Number number) {
  std::array<char, 40> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  json.append(digits.data(), end);
}

template <typename Number>
void append_quoted(std::string& json, Number number) {
  json += '"';
  append_number(json, number);
  json += '"';
}

template <typename Float>
void append_float(std::string& json, Float number) {
  if (std::isfinite(number)) return append_number(json, number);
  json += std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
}

void append_enum(std::string& json, const pb::FieldDescriptor& field, int number) {
  if (field.enum_type()->full_name() == "google.protobuf.NullValue") {
    json += "null";
  } else if (const auto* const value = field.enum_type()->FindValueByNumber(number)) {
    json.append("\"").append(value->name()).append("\"");
  } else {
    append_number(json, number);  // From a newer version of the proto.
  }
}

bool is_set(const pb::Message& message, const pb::FieldDescriptor& field) {
  const pb::Reflection& reflection = *message.GetReflection();
  return field.is_repeated() ? reflection.FieldSize(message, &field) > 0
                             : reflection.HasField(message, &field);
}

}  // namespace

Result<void> JsonWriter::write(const pb::Message& message, std::string& json) {
  root_ = &message;
  frames_.clear();
  bool is_well = write_message(message, json);
  while (is_well && !frames_.empty()) is_well = step(json);
  if (is_well) return {};
  std::string where = message.GetDescriptor()->full_name();
  for (const Frame& frame : frames_) {
    if (frame.kind != Frame::Kind::object && frame.kind != Frame::Kind::any) continue;
    if (frame.next == 0) continue;
    where += "." + frame.message->GetDescriptor()->field(frame.next - 1)->json_name();
  }
  contents_.clear();
  return Error(Code::invalid_argument, where + " cannot be written as JSON: " + why_);
}

bool JsonWriter::step(std::string& json) {
  Frame& top = frames_.back();
  switch (top.kind) {
    case Frame::Kind::object:
      return step_object(top, json);
    case Frame::Kind::any:
      return step_any(top, json);
    case Frame::Kind::list:
      return step_list(top, json);
    case Frame::Kind::map:
      return step_map(top, json);
  }
  return false;
}

bool JsonWriter::step_object(Frame& top, std::string& json) {
  const pb::Message& message = *top.message;
  const pb::Descriptor& type = *message.GetDescriptor();
  while (top.next < type.field_count()) {
    const pb::FieldDescriptor& field = *type.field(top.next++);
    if (!is_set(message, field)) continue;
    json += std::exchange(top.is_first, false) ? "\"" : ",\"";
    json.append(field.json_name()).append("\":");
    if (field.is_map()) {
      return open({.kind = Frame::Kind::map, .message = &message, .field = &field}, json);
    }
    if (field.is_repeated()) {
      return open({.kind = Frame::Kind::list, .message = &message, .field = &field}, json);
    }
    if (field.cpp_type() == CppType::CPPTYPE_MESSAGE) {
      return write_message(message.GetReflection()->GetMessage(message, &field), json);
    }
    if (!write_scalar(message, field, -1, json)) return false;
  }
  return close('}', json);
}

bool JsonWriter::step_any(Frame& top, std::string& json) {
  const pb::Message& content = *top.message;
  if (!detail::has_own_json(content)) return step_object(top, json);
  if (!std::exchange(top.is_first, false)) return close('}', json);
  json += ",\"value\":";
  return write_message(content, json);
}

bool JsonWriter::step_list(Frame& top, std::string& json) {
  const pb::Message& message = *top.message;
  const pb::Reflection& reflection = *message.GetReflection();
  if (top.next == reflection.FieldSize(message, top.field)) return close(']', json);
  if (!std::exchange(top.is_first, false)) json += ',';
  const int index = top.next++;
  if (top.field->cpp_type() == CppType::CPPTYPE_MESSAGE) {
    return write_message(reflection.GetRepeatedMessage(message, top.field, index), json);
  }
  return write_scalar(message, *top.field, index, json);
}

bool JsonWriter::step_map(Frame& top, std::string& json) {
  const pb::Message& message = *top.message;
  const pb::Reflection& reflection = *message.GetReflection();
  if (top.next == reflection.FieldSize(message, top.field)) return close('}', json);
  if (!std::exchange(top.is_first, false)) json += ',';
  const pb::Message& entry = reflection.GetRepeatedMessage(message, top.field, top.next++);
  const pb::FieldDescriptor& key = *top.field->message_type()->map_key();
  const pb::FieldDescriptor& value = *top.field->message_type()->map_value();
  // A key is always a JSON string; a string key has its quotes already.
  const std::size_t key_begin = json.size();
  if (!write_scalar(entry, key, -1, json)) return false;
  if (json[key_begin] != '"') json.insert(key_begin, 1, '"').append("\"");
  json += ':';
  if (value.cpp_type() == CppType::CPPTYPE_MESSAGE) {
    return write_message(entry.GetReflection()->GetMessage(entry, &value), json);
  }
  return write_scalar(entry, value, -1, json);
}

bool JsonWriter::open(const Frame& frame, std::string& json) {
  if (frames_.size() == json_depth_max) return fail("it is nested too deeply");
  frames_.push_back(frame);
  json += frame.kind == Frame::Kind::list ? '[' : '{';
  return true;
}

bool JsonWriter::close(char bracket, std::string& json) {
  if (frames_.back().kind == Frame::Kind::any) contents_.pop_back();
  frames_.pop_back();
  json += bracket;
  return true;
}

bool JsonWriter::write_message(const pb::Message& message, std::string& json) {
  const pb::Descriptor& type = *message.GetDescriptor();
  switch (type.well_known_type()) {
    case WellKnown::WELLKNOWNTYPE_UNSPECIFIED:
      return open({.kind = Frame::Kind::object, .message = &message, .field = nullptr}, json);
    case WellKnown::WELLKNOWNTYPE_ANY:
      return write_any(message, json);
    case WellKnown::WELLKNOWNTYPE_TIMESTAMP:
    case WellKnown::WELLKNOWNTYPE_DURATION:
    case WellKnown::WELLKNOWNTYPE_FIELDMASK:
      scratch_.clear();
      if (!detail::append_well_known_text(scratch_, message)) {
        return fail("it is not a valid " + type.full_name());
      }
      return write_text(scratch_, json);
    case WellKnown::WELLKNOWNTYPE_STRUCT:
      return open({.kind = Frame::Kind::map, .message = &message, .field = type.field(0)}, json);
    case WellKnown::WELLKNOWNTYPE_LISTVALUE:
      return open({.kind = Frame::Kind::list, .message = &message, .field = type.field(0)}, json);
    case WellKnown::WELLKNOWNTYPE_VALUE:
      return write_value(message, json);
    default:  // The wrappers.
      return write_scalar(message, *type.FindFieldByNumber(1), -1, json);
  }
}

bool JsonWriter::write_any(const pb::Message& any, std::string& json) {
  const pb::Reflection& reflection = *any.GetReflection();
  const auto text_of = [&](int number, std::string& room) -> const std::string& {
    return reflection.GetStringReference(any, any.GetDescriptor()->FindFieldByNumber(number),
                                         &room);
  };
  std::string url_room;
  std::string bytes_room;
  const std::string& url = text_of(1, url_room);
  const std::string& bytes = text_of(2, bytes_room);
  if (url.empty() && bytes.empty()) {
    return open({.kind = Frame::Kind::object, .message = &any, .field = nullptr}, json);
  }
  scratch_ = "\"@type\":";
  if (!write_text(url, scratch_)) return false;
  auto content = detail::make_content(*root_, url);
  if (content == nullptr) {
    return fail("the type of an Any is unknown: " + detail::shown_text(url));
  }
  if (!content->ParsePartialFromString(bytes)) {
    return fail("the bytes of an Any are not a " + content->GetTypeName());
  }
  if (!contents_.empty()) {
    // It is part of a content, of which nobody reads these bytes again. Nested contents would
    // otherwise add up to many times the size of the message.
    reflection.Swap(const_cast<pb::Message*>(&any), std::unique_ptr<pb::Message>(any.New()).get());
  }
  if (!open({.kind = Frame::Kind::any,
             .message = content.get(),
             .field = nullptr,
             .is_first = detail::has_own_json(*content)},
            json)) {
    return false;
  }
  contents_.push_back(std::move(content));
  json += scratch_;
  return true;
}

bool JsonWriter::write_value(const pb::Message& value, std::string& json) {
  const pb::Reflection& reflection = *value.GetReflection();
  const auto* const kind =
      reflection.GetOneofFieldDescriptor(value, value.GetDescriptor()->oneof_decl(0));
  if (kind == nullptr) return fail("a google.protobuf.Value is empty");
  if (kind->cpp_type() == CppType::CPPTYPE_MESSAGE) {
    return write_message(reflection.GetMessage(value, kind), json);
  }
  if (kind->cpp_type() == CppType::CPPTYPE_DOUBLE &&
      !std::isfinite(reflection.GetDouble(value, kind))) {
    // It would be read back as a string.
    return fail("a google.protobuf.Value is not a finite number");
  }
  return write_scalar(value, *kind, -1, json);
}

bool JsonWriter::write_scalar(const pb::Message& message, const pb::FieldDescriptor& field,
                              int index, std::string& json) {
  const pb::Reflection& reflection = *message.GetReflection();
  // Reads the value by the getter of its type; there is another for elements.
  const auto get = [&](auto single, auto element) {
    return index < 0 ? (reflection.*single)(message, &field)
                     : (reflection.*element)(message, &field, index);
  };
  switch (field.cpp_type()) {
    case CppType::CPPTYPE_INT32:
      append_number(json, get(&pb::Reflection::GetInt32, &pb::Reflection::GetRepeatedInt32));
      return true;
    case CppType::CPPTYPE_UINT32:
      append_number(json, get(&pb::Reflection::GetUInt32, &pb::Reflection::GetRepeatedUInt32));
      return true;
    case CppType::CPPTYPE_INT64:
      append_quoted(json, get(&pb::Reflection::GetInt64, &pb::Reflection::GetRepeatedInt64));
      return true;
    case CppType::CPPTYPE_UINT64:
      append_quoted(json, get(&pb::Reflection::GetUInt64, &pb::Reflection::GetRepeatedUInt64));
      return true;
    case CppType::CPPTYPE_DOUBLE:
      append_float(json, get(&pb::Reflection::GetDouble, &pb::Reflection::GetRepeatedDouble));
      return true;
    case CppType::CPPTYPE_FLOAT:
      append_float(json, get(&pb::Reflection::GetFloat, &pb::Reflection::GetRepeatedFloat));
      return true;
    case CppType::CPPTYPE_BOOL:
      json += get(&pb::Reflection::GetBool, &pb::Reflection::GetRepeatedBool) ? "true" : "false";
      return true;
    case CppType::CPPTYPE_ENUM:
      append_enum(json, field,
                  get(&pb::Reflection::GetEnumValue, &pb::Reflection::GetRepeatedEnumValue));
      return true;
    case CppType::CPPTYPE_STRING: {
      std::string unused;
      const std::string& text =
          index < 0 ? reflection.GetStringReference(message, &field, &unused)
                    : reflection.GetRepeatedStringReference(message, &field, index, &unused);
      if (field.type() == pb::FieldDescriptor::TYPE_STRING) return write_text(text, json);
      json += '"';
      append_base64(json, text);
      json += '"';
      return true;
    }
    case CppType::CPPTYPE_MESSAGE:
      break;
  }
  return fail("a scalar is expected");
}

bool JsonWriter::write_text(std::string_view text, std::string& json) {
  if (!is_utf8(text)) return fail("a string is not UTF-8");
  detail::append_json_string(json, text);
  return true;
}

bool JsonWriter::fail(std::string why) {
  why_ = std::move(why);
  return false;
}

}  // namespace corolane::rpc
