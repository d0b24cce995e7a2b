// SPDX-License-Identifier: MIT
#include "rpc/http/detail/json_builder.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "coroutine/base/encoding.h"
#include "rpc/http/detail/json_number.h"
#include "rpc/http/detail/json_text.h"
#include "rpc/http/json.h"

namespace corolane::rpc::detail {
namespace {

namespace pb = google::protobuf;
using WellKnown = pb::Descriptor::WellKnownType;
using CppType = pb::FieldDescriptor::CppType;
using Kind = JsonScalar::Kind;

std::string shown(const JsonScalar& value) {
  switch (value.kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return value.truth ? "true" : "false";
    case Kind::number:
    case Kind::string:
      break;
  }
  std::string text = shown_text(value.text);
  if (value.kind == Kind::number) return text;
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

// The fields of google.protobuf.Any.
constexpr int type_url_number = 1;
constexpr int value_number = 2;

bool is_type_url(const pb::FieldDescriptor& field) {
  return field.number() == type_url_number &&
         field.containing_type()->well_known_type() == WellKnown::WELLKNOWNTYPE_ANY;
}

bool is_null_value(const pb::FieldDescriptor& field) {
  return field.cpp_type() == CppType::CPPTYPE_ENUM &&
         field.enum_type()->full_name() == "google.protobuf.NullValue";
}

bool is_value(const pb::FieldDescriptor& field) {
  return field.cpp_type() == CppType::CPPTYPE_MESSAGE &&
         field.message_type()->well_known_type() == WellKnown::WELLKNOWNTYPE_VALUE;
}

template <typename Number>
bool read_special(std::string_view text, Number& number) {
  if constexpr (std::numeric_limits<Number>::has_infinity) {
    constexpr Number infinity = std::numeric_limits<Number>::infinity();
    const bool is_special = text == "NaN" || text == "Infinity" || text == "-Infinity";
    if (text == "NaN") number = std::numeric_limits<Number>::quiet_NaN();
    if (text == "Infinity") number = infinity;
    if (text == "-Infinity") number = -infinity;
    return is_special;
  }
  return false;
}

void store(const pb::Reflection& to, pb::Message* message, const pb::FieldDescriptor* field,
           bool is_element, std::int32_t number) {
  is_element ? to.AddInt32(message, field, number) : to.SetInt32(message, field, number);
}
void store(const pb::Reflection& to, pb::Message* message, const pb::FieldDescriptor* field,
           bool is_element, std::uint32_t number) {
  is_element ? to.AddUInt32(message, field, number) : to.SetUInt32(message, field, number);
}
void store(const pb::Reflection& to, pb::Message* message, const pb::FieldDescriptor* field,
           bool is_element, std::int64_t number) {
  is_element ? to.AddInt64(message, field, number) : to.SetInt64(message, field, number);
}
void store(const pb::Reflection& to, pb::Message* message, const pb::FieldDescriptor* field,
           bool is_element, std::uint64_t number) {
  is_element ? to.AddUInt64(message, field, number) : to.SetUInt64(message, field, number);
}
void store(const pb::Reflection& to, pb::Message* message, const pb::FieldDescriptor* field,
           bool is_element, double number) {
  is_element ? to.AddDouble(message, field, number) : to.SetDouble(message, field, number);
}
void store(const pb::Reflection& to, pb::Message* message, const pb::FieldDescriptor* field,
           bool is_element, float number) {
  is_element ? to.AddFloat(message, field, number) : to.SetFloat(message, field, number);
}
void store(const pb::Reflection& to, pb::Message* message, const pb::FieldDescriptor* field,
           bool is_element, bool truth) {
  is_element ? to.AddBool(message, field, truth) : to.SetBool(message, field, truth);
}

}  // namespace

void JsonBuilder::begin(pb::Message& root, std::string_view json) {
  root_ = &root;
  frames_.clear();
  anys_.clear();
  late_types_.begin(json);
  skipped_depth_ = 0;
  why_.clear();
}

// --- events

bool JsonBuilder::scalar(const JsonScalar& value) {
  if (is_skipping()) return true;
  if (is_unknown()) return value_done();
  pb::Message* const message = whole();
  if (!(message == nullptr ? set(place(), value) : set_message(*message, value))) return false;
  return frames_.empty() || value_done();
}

bool JsonBuilder::start_object(std::size_t begin) {
  if (is_skipping() || is_unknown()) {
    ++skipped_depth_;
    return frames_.size() + skipped_depth_ <= json_depth_max || fail("nested too deeply");
  }
  if (pb::Message* const message = whole()) return open_object(*message, begin);
  const Place at = place();
  if (at.field->is_map() && !at.is_element) {
    return push({.kind = Frame::Kind::map, .message = at.message, .field = at.field}, 1);
  }
  if (at.field->is_repeated() && !at.is_element) return fail("expects an array, not an object");
  if (at.field->cpp_type() != CppType::CPPTYPE_MESSAGE) {
    return fail("expects " + std::string(at.field->cpp_type_name()) + ", not an object");
  }
  pb::Message* const message = make_message(at);
  return message != nullptr && open_object(*message, begin);
}

bool JsonBuilder::start_array() {
  if (is_skipping() || is_unknown()) {
    ++skipped_depth_;
    return frames_.size() + skipped_depth_ <= json_depth_max || fail("nested too deeply");
  }
  if (pb::Message* const message = whole()) return open_array(*message);
  const Place at = place();
  if (at.field->is_map() && !at.is_element) return fail("expects an object, not an array");
  if (at.field->is_repeated() && !at.is_element) {
    return push({.kind = Frame::Kind::list, .message = at.message, .field = at.field}, 0);
  }
  if (at.field->cpp_type() != CppType::CPPTYPE_MESSAGE) {
    return fail("expects " + std::string(at.field->cpp_type_name()) + ", not an array");
  }
  pb::Message* const message = make_message(at);
  return message != nullptr && open_array(*message);
}

bool JsonBuilder::end() {
  if (is_skipping()) {
    --skipped_depth_;
    if (is_skipping()) return true;
  } else {
    const Frame::Kind kind = frames_.back().kind;
    if ((kind == Frame::Kind::any || kind == Frame::Kind::any_value) && !close_any()) return false;
    frames_.pop_back();
  }
  return frames_.empty() || value_done();
}

bool JsonBuilder::key(std::string_view name) {
  if (is_skipping()) return true;
  Frame& top = frames_.back();
  if (top.kind == Frame::Kind::object) {
    top.field = find_field(top, name);
    return true;
  }
  if (has_names(top)) return any_key(name);
  top.entry = top.message->GetReflection()->AddMessage(top.message, top.field);
  return set_key(*top.entry, name);
}

bool JsonBuilder::value_done() {
  Frame& top = frames_.back();
  if (top.kind == Frame::Kind::list) ++top.next;
  if (!has_names(top)) return true;
  top.field = nullptr;
  // The first value that an Any takes is its type.
  return top.kind != Frame::Kind::any || anys_.back().content != nullptr || make_any_content();
}

// --- where values go

bool JsonBuilder::is_unknown() const {
  return !frames_.empty() && has_names(frames_.back()) && frames_.back().field == nullptr;
}

pb::Message* JsonBuilder::whole() const {
  if (frames_.empty()) return root_;
  const Frame& top = frames_.back();
  return top.kind == Frame::Kind::any_value ? top.message : nullptr;
}

JsonBuilder::Place JsonBuilder::place() const {
  const Frame& top = frames_.back();
  if (top.kind == Frame::Kind::map) {
    return {
        .message = top.entry, .field = top.field->message_type()->map_value(), .is_element = false};
  }
  return {.message = top.message, .field = top.field, .is_element = top.kind == Frame::Kind::list};
}

// Senders mostly keep the order of the proto, so the next field is a good guess.
const pb::FieldDescriptor* JsonBuilder::find_field(Frame& frame, std::string_view name) {
  const pb::Descriptor& type = *frame.message->GetDescriptor();
  if (frame.next < type.field_count()) {
    const pb::FieldDescriptor* const guess = type.field(frame.next);
    if (guess->json_name() == name) {
      ++frame.next;
      return guess;
    }
  }
  name_.assign(name);
  const pb::FieldDescriptor* found = type.FindFieldByName(name_);
  if (found == nullptr) {
    found = type.FindFieldByCamelcaseName(name_);
    if (found != nullptr && found->json_name() != name_) found = nullptr;
  }
  // The name can only be an explicit json_name.
  for (int i = 0; found == nullptr && i < type.field_count(); ++i) {
    if (type.field(i)->has_json_name() && type.field(i)->json_name() == name) found = type.field(i);
  }
  if (found != nullptr) frame.next = found->index() + 1;
  return found;
}

bool JsonBuilder::push(Frame frame, int levels) {
  if (frames_.size() == json_depth_max) return fail("nested too deeply");
  if (!anys_.empty()) {
    // Nobody could parse the content: protobuf has the same limit.
    frame.levels = frames_.back().levels + levels;
    if (std::cmp_greater_equal(frame.levels, json_depth_max)) return fail("nested too deeply");
  }
  frames_.push_back(frame);
  return true;
}

bool JsonBuilder::open_object(pb::Message& message, std::size_t begin) {
  const pb::Descriptor& type = *message.GetDescriptor();
  switch (type.well_known_type()) {
    case WellKnown::WELLKNOWNTYPE_UNSPECIFIED:
      return push({.kind = Frame::Kind::object, .message = &message, .field = nullptr}, 1);
    case WellKnown::WELLKNOWNTYPE_STRUCT:
      // With its Value and its entries.
      return push({.kind = Frame::Kind::map, .message = &message, .field = type.field(0)}, 3);
    case WellKnown::WELLKNOWNTYPE_VALUE: {
      const auto* const field = type.FindFieldByName("struct_value");
      return open_object(*message.GetReflection()->MutableMessage(&message, field), begin);
    }
    case WellKnown::WELLKNOWNTYPE_ANY:
      return open_any(message, begin);
    case WellKnown::WELLKNOWNTYPE_LISTVALUE:
      return fail("expects an array, not an object");
    default:
      return fail("expects a " + type.full_name() + ", not an object");
  }
}

bool JsonBuilder::open_array(pb::Message& message) {
  const pb::Descriptor& type = *message.GetDescriptor();
  if (type.well_known_type() == WellKnown::WELLKNOWNTYPE_LISTVALUE) {
    // With its Value.
    return push({.kind = Frame::Kind::list, .message = &message, .field = type.field(0)}, 2);
  }
  if (type.well_known_type() == WellKnown::WELLKNOWNTYPE_VALUE) {
    const auto* const field = type.FindFieldByName("list_value");
    return open_array(*message.GetReflection()->MutableMessage(&message, field));
  }
  return fail("expects a " + type.full_name() + ", not an array");
}

bool JsonBuilder::may_set(const Place& at) {
  if (at.is_element || !at.field->has_presence()) return true;
  const pb::Reflection& reflection = *at.message->GetReflection();
  const pb::OneofDescriptor* const oneof = at.field->real_containing_oneof();
  if (oneof != nullptr && reflection.HasOneof(*at.message, oneof)) {
    return fail("another field of the oneof " + oneof->name() + " is set already");
  }
  if (has_names(frames_.back()) && reflection.HasField(*at.message, at.field)) {
    return fail("is set twice");
  }
  return true;
}

pb::Message* JsonBuilder::make_message(const Place& at) {
  if (!may_set(at)) return nullptr;
  const pb::Reflection& reflection = *at.message->GetReflection();
  return at.is_element ? reflection.AddMessage(at.message, at.field)
                       : reflection.MutableMessage(at.message, at.field);
}

// --- google.protobuf.Any

bool JsonBuilder::open_any(pb::Message& any, std::size_t begin) {
  if (!push({.kind = Frame::Kind::any, .message = &any, .field = nullptr}, 1)) return false;
  frames_.back().levels = 0;  // The content is parsed by itself.
  anys_.push_back({.any = &any, .begin = begin, .content = nullptr});
  return true;
}

bool JsonBuilder::any_key(std::string_view name) {
  Frame& top = frames_.back();
  OpenAny& open = anys_.back();
  const pb::Descriptor& type = *open.any->GetDescriptor();
  if (name == "@type") {
    top.field = type.FindFieldByNumber(type_url_number);
    if (std::exchange(open.has_type, true)) return fail("is set twice");
    if (open.content != nullptr) top.field = nullptr;  // It is known already.
    return true;
  }
  if (open.content == nullptr) {
    const auto url = late_types_.find(open.begin);
    if (!url) return fail(url.error().message());
    if (url->empty()) return fail("expects \"@type\" with the URL of a type");
    open.any->GetReflection()->SetString(open.any, type.FindFieldByNumber(type_url_number),
                                         std::string(*url));
    if (!make_any_content()) return false;
  }
  if (top.kind == Frame::Kind::any) {
    top.field = find_field(top, name);
    return true;
  }
  top.field = name == "value" ? type.FindFieldByNumber(value_number) : nullptr;
  return top.field == nullptr || !std::exchange(open.has_value, true) || fail("is set twice");
}

bool JsonBuilder::make_any_content() {
  Frame& top = frames_.back();
  OpenAny& open = anys_.back();
  const auto* const field = open.any->GetDescriptor()->FindFieldByNumber(type_url_number);
  const std::string url = open.any->GetReflection()->GetString(*open.any, field);
  open.content = make_content(*root_, url);
  if (open.content == nullptr) {
    top.field = field;
    return expects("the URL of a known type", {.kind = Kind::string, .text = url});
  }
  top.kind = has_own_json(*open.content) ? Frame::Kind::any_value : Frame::Kind::any;
  top.message = open.content.get();
  return true;
}

bool JsonBuilder::close_any() {
  OpenAny& open = anys_.back();
  if (open.content != nullptr) {
    // Protobuf leaves the value away when it is the default, which only a Value does not have.
    if (!open.has_value &&
        open.content->GetDescriptor()->well_known_type() == WellKnown::WELLKNOWNTYPE_VALUE) {
      return fail("expects \"value\"");
    }
    std::string bytes;
    if (!open.content->SerializePartialToString(&bytes)) return fail("is too large");
    open.any->GetReflection()->SetString(
        open.any, open.any->GetDescriptor()->FindFieldByNumber(value_number), std::move(bytes));
  }
  anys_.pop_back();
  return true;
}

// --- values

bool JsonBuilder::set(const Place& at, const JsonScalar& value) {
  if (value.kind == Kind::null && !is_null_value(*at.field) && !is_value(*at.field)) {
    // null leaves a field unset; but an element of a list or a map cannot be empty.
    return has_names(frames_.back()) || fail("null is not allowed here");
  }
  if (at.field->is_repeated() && !at.is_element) {
    return expects(at.field->is_map() ? "an object" : "an array", value);
  }
  if (at.field->cpp_type() == CppType::CPPTYPE_MESSAGE) {
    pb::Message* const message = make_message(at);
    return message != nullptr && set_message(*message, value);
  }
  if (!may_set(at)) return false;
  switch (at.field->cpp_type()) {
    case CppType::CPPTYPE_INT32:
      return set_number<std::int32_t>(at, value, "an int32");
    case CppType::CPPTYPE_UINT32:
      return set_number<std::uint32_t>(at, value, "a uint32");
    case CppType::CPPTYPE_INT64:
      return set_number<std::int64_t>(at, value, "an int64");
    case CppType::CPPTYPE_UINT64:
      return set_number<std::uint64_t>(at, value, "a uint64");
    case CppType::CPPTYPE_DOUBLE:
      return set_number<double>(at, value, "a double");
    case CppType::CPPTYPE_FLOAT:
      return set_number<float>(at, value, "a float");
    case CppType::CPPTYPE_BOOL:
      if (value.kind != Kind::boolean) return expects("true or false", value);
      store(*at.message->GetReflection(), at.message, at.field, at.is_element, value.truth);
      return true;
    case CppType::CPPTYPE_ENUM:
      return set_enum(at, value);
    default:
      return set_text(at, value);
  }
}

template <typename Number>
bool JsonBuilder::set_number(const Place& at, const JsonScalar& value, const char* expected) {
  Number number{};
  const bool may_be = value.kind == Kind::number || value.kind == Kind::string;
  const bool is_special = value.kind == Kind::string && read_special(value.text, number);
  if (!may_be || (!is_special && !read_json_number(value.text, number))) {
    return expects(expected, value);
  }
  store(*at.message->GetReflection(), at.message, at.field, at.is_element, number);
  return true;
}

bool JsonBuilder::set_enum(const Place& at, const JsonScalar& value) {
  std::int32_t number = 0;
  if (value.kind == Kind::string) {
    const auto* const named = at.field->enum_type()->FindValueByName(std::string(value.text));
    if (named == nullptr) return expects("a name of " + at.field->enum_type()->full_name(), value);
    number = named->number();
  } else if (value.kind == Kind::null) {
    number = 0;  // The number of NullValue.
  } else if (value.kind != Kind::number || !read_json_number(value.text, number)) {
    return expects("a name of " + at.field->enum_type()->full_name(), value);
  }
  const pb::Reflection& reflection = *at.message->GetReflection();
  // An enum of proto2 has no other values.
  if (value.kind == Kind::number && !reflection.SupportsUnknownEnumValues() &&
      at.field->enum_type()->FindValueByNumber(number) == nullptr) {
    return expects("a value of " + at.field->enum_type()->full_name(), value);
  }
  // A NullValue is always written as null.
  if (number != 0 && is_null_value(*at.field)) return expects("null", value);
  at.is_element ? reflection.AddEnumValue(at.message, at.field, number)
                : reflection.SetEnumValue(at.message, at.field, number);
  return true;
}

bool JsonBuilder::set_text(const Place& at, const JsonScalar& value) {
  const bool is_bytes = at.field->type() == pb::FieldDescriptor::TYPE_BYTES;
  std::string text;
  if (value.kind != Kind::string || (is_bytes && !read_any_base64(value.text, text))) {
    return expects(is_bytes ? "base64" : "a string", value);
  }
  if (!is_bytes) text.assign(value.text);
  const pb::Reflection& reflection = *at.message->GetReflection();
  at.is_element ? reflection.AddString(at.message, at.field, std::move(text))
                : reflection.SetString(at.message, at.field, std::move(text));
  return true;
}

bool JsonBuilder::set_message(pb::Message& message, const JsonScalar& value) {
  const pb::Descriptor& type = *message.GetDescriptor();
  switch (type.well_known_type()) {
    case WellKnown::WELLKNOWNTYPE_UNSPECIFIED:
    case WellKnown::WELLKNOWNTYPE_STRUCT:
    case WellKnown::WELLKNOWNTYPE_ANY:
      return expects("an object", value);
    case WellKnown::WELLKNOWNTYPE_LISTVALUE:
      return expects("an array", value);
    case WellKnown::WELLKNOWNTYPE_TIMESTAMP:
    case WellKnown::WELLKNOWNTYPE_DURATION:
    case WellKnown::WELLKNOWNTYPE_FIELDMASK:
      return (value.kind == Kind::string && read_well_known_text(value.text, message)) ||
             expects("a " + type.full_name(), value);
    case WellKnown::WELLKNOWNTYPE_VALUE:
      return set_value(message, value);
    default: {  // The wrappers.
      const Place inside{
          .message = &message, .field = type.FindFieldByNumber(1), .is_element = false};
      return value.kind == Kind::null ? expects("a " + type.full_name(), value)
                                      : set(inside, value);
    }
  }
}

bool JsonBuilder::set_value(pb::Message& message, const JsonScalar& value) {
  const pb::Reflection& reflection = *message.GetReflection();
  const pb::Descriptor& type = *message.GetDescriptor();
  switch (value.kind) {
    case Kind::null:
      reflection.SetEnumValue(&message, type.FindFieldByName("null_value"), 0);
      return true;
    case Kind::boolean:
      reflection.SetBool(&message, type.FindFieldByName("bool_value"), value.truth);
      return true;
    case Kind::string:
      reflection.SetString(&message, type.FindFieldByName("string_value"), std::string(value.text));
      return true;
    case Kind::number:
      break;
  }
  double number = 0;
  if (!read_json_number(value.text, number)) return expects("a double", value);
  reflection.SetDouble(&message, type.FindFieldByName("number_value"), number);
  return true;
}

bool JsonBuilder::set_key(pb::Message& entry, std::string_view text) {
  const pb::FieldDescriptor& key = *entry.GetDescriptor()->map_key();
  const Place at{.message = &entry, .field = &key, .is_element = false};
  if (key.cpp_type() != CppType::CPPTYPE_BOOL) {
    return set(at, {.kind = Kind::string, .text = text});
  }
  if (text != "true" && text != "false") {
    return expects("true or false as a key", {.kind = Kind::string, .text = text});
  }
  return set(at, {.kind = Kind::boolean, .truth = text == "true"});
}

// --- errors

bool JsonBuilder::expects(std::string_view what, const JsonScalar& value) {
  return fail("expects " + std::string(what) + ", not " + shown(value));
}

bool JsonBuilder::fail(std::string why) {
  if (why_.empty()) why_ = std::move(why);
  return false;
}

std::string JsonBuilder::why() const {
  std::string path;
  for (const Frame& frame : frames_) {
    if (frame.kind == Frame::Kind::list) {
      path += "[" + std::to_string(frame.next) + "]";
    } else if (frame.kind == Frame::Kind::map && frame.entry != nullptr) {
      std::string key;
      pb::TextFormat::PrintFieldValueToString(*frame.entry, frame.entry->GetDescriptor()->map_key(),
                                              -1, &key);
      path += "[" + key + "]";
    } else if (has_names(frame) && frame.field != nullptr) {
      path += path.empty() ? "" : ".";
      path += is_type_url(*frame.field) ? "@type" : frame.field->json_name();
    }
  }
  return path.empty() ? why_ : path + ": " + why_;
}

}  // namespace corolane::rpc::detail
