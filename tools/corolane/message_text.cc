// SPDX-License-Identifier: MIT
#include "tools/corolane/message_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "coroutine/base/text.h"

namespace corolane::tools::cli {
namespace {

namespace pb = google::protobuf;
using Json = nlohmann::ordered_json;

// The maximum depth of nested messages in an example.
constexpr std::size_t example_depth_max = 5;

// Types of protobuf itself, which are well known and have their own JSON form.
bool is_well_known(const pb::Descriptor& type) {
  return type.file()->package() == "google.protobuf";
}

std::string enum_text(const pb::EnumDescriptor& type) {
  std::string text;
  for (int i = 0; i < type.value_count(); ++i) {
    text += (i == 0 ? "" : "|") + type.value(i)->name();
  }
  return text;
}

std::string element_text(const pb::FieldDescriptor& field) {
  if (field.type() == pb::FieldDescriptor::TYPE_ENUM) return enum_text(*field.enum_type());
  if (field.message_type() == nullptr) return field.type_name();
  return is_well_known(*field.message_type()) ? field.message_type()->full_name()
                                              : field.message_type()->name();
}

// The field that describes the value: for a map, the value field of its entries.
const pb::FieldDescriptor& element_of(const pb::FieldDescriptor& field) {
  return field.is_map() ? *field.message_type()->map_value() : field;
}

std::string type_text(const pb::FieldDescriptor& field) {
  const std::string element = element_text(element_of(field));
  if (field.is_map()) {
    return "map<" + element_text(*field.message_type()->map_key()) + ", " + element + ">";
  }
  if (field.is_repeated()) return "repeated " + element;
  return (field.has_optional_keyword() ? "optional " : "") + element;
}

std::string comment_lines(std::string_view text, const std::string& margin) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = escaped(text.substr(0, end));
    lines.append(margin).append(line.empty() ? "//" : "// ").append(line).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// `around` holds the messages that enclose this one.
Json example_of(const pb::Descriptor& type, std::vector<const pb::Descriptor*>& around);
Json example_of_element(const pb::FieldDescriptor& field,
                        std::vector<const pb::Descriptor*>& around);

// Well-known types that are not objects in JSON.
Json well_known_example(const pb::Descriptor& type, std::vector<const pb::Descriptor*>& around) {
  const std::string& name = type.name();
  if (name == "Timestamp") return "2026-01-31T12:00:00Z";
  if (name == "Duration") return "1.5s";
  if (name == "FieldMask") return "";
  if (name == "Value") return nullptr;
  if (name == "ListValue") return Json::array();
  if (name == "Struct" || name == "Any") return Json::object();
  // A wrapper is written as its value.
  const bool is_wrapper = type.file()->name() == "google/protobuf/wrappers.proto";
  return is_wrapper ? example_of_element(*type.field(0), around) : example_of(type, around);
}

Json example_of_element(const pb::FieldDescriptor& field,
                        std::vector<const pb::Descriptor*>& around) {
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_STRING:
      return "";
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return false;
    case pb::FieldDescriptor::CPPTYPE_ENUM: {
      // The first value usually means "unspecified".
      const pb::EnumDescriptor& type = *field.enum_type();
      return type.value(type.value_count() > 1 ? 1 : 0)->name();
    }
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      return is_well_known(*field.message_type())
                 ? well_known_example(*field.message_type(), around)
                 : example_of(*field.message_type(), around);
    default:
      return 0;
  }
}

const char* example_key(const pb::FieldDescriptor& key) {
  if (key.cpp_type() == pb::FieldDescriptor::CPPTYPE_BOOL) return "false";
  return key.cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING ? "" : "0";
}

bool is_left_out(const pb::FieldDescriptor& field,
                 const std::vector<const pb::Descriptor*>& around) {
  const pb::OneofDescriptor* choice = field.real_containing_oneof();
  if (choice != nullptr && choice->field(0) != &field) return true;
  const pb::Descriptor* inner = element_of(field).message_type();
  return inner != nullptr &&
         (around.size() >= example_depth_max || std::ranges::find(around, inner) != around.end());
}

Json example_of(const pb::Descriptor& type, std::vector<const pb::Descriptor*>& around) {
  Json object = Json::object();
  around.push_back(&type);
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor& field = *type.field(i);
    if (is_left_out(field, around)) continue;
    const Json element = example_of_element(element_of(field), around);
    if (field.is_map()) {
      object[field.name()] = {{example_key(*field.message_type()->map_key()), element}};
    } else {
      object[field.name()] = field.is_repeated() ? Json::array({element}) : element;
    }
  }
  around.pop_back();
  return object;
}

}  // namespace

std::string FieldsText::of(const pb::Descriptor& type) {
  if (type.field_count() == 0) return "  no fields: write {}\n";
  if (!seen_.insert(&type).second) return "  fields as above\n";
  return fields(type, 2);
}

std::string FieldsText::fields(const pb::Descriptor& type, std::size_t indent) {
  std::string text;
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor& field = *type.field(i);
    const pb::OneofDescriptor* choice = field.real_containing_oneof();
    if (choice != nullptr && choice->field(0) == &field) {
      text += std::string(indent, ' ') + "one of these, " + choice->name() + ":\n";
    }
    text += this->field(field, choice == nullptr ? indent : indent + 2);
  }
  return text;
}

std::string FieldsText::field(const pb::FieldDescriptor& field, std::size_t indent) {
  const std::string line = std::string(indent, ' ') + field.name() + ": " + type_text(field);
  const std::string text = comment(field, indent) + line;
  const pb::Descriptor* inner = element_of(field).message_type();
  if (inner == nullptr || is_well_known(*inner) || inner->field_count() == 0) return text + "\n";
  if (!seen_.insert(inner).second) return text + ", as above\n";
  return text + "\n" + fields(*inner, indent + 2);
}

std::string FieldsText::comment(const pb::FieldDescriptor& field, std::size_t indent) const {
  std::string text = types_->comment(field.full_name());
  const pb::FieldDescriptor& element = element_of(field);
  if (text.empty() && element.message_type() != nullptr) {
    text = types_->comment(element.message_type()->full_name());
  }
  const std::string margin(indent, ' ');
  std::string lines = comment_lines(text, margin);
  if (const pb::EnumDescriptor* type = element.enum_type()) {
    for (int i = 0; i < type->value_count(); ++i) {
      const std::string value = types_->comment(type->value(i)->full_name());
      if (!value.empty()) lines += comment_lines(type->value(i)->name() + ": " + value, margin);
    }
  }
  return lines;
}

std::string example_json(const pb::Descriptor& type) {
  std::vector<const pb::Descriptor*> around;
  return example_of(type, around).dump(2);
}

}  // namespace corolane::tools::cli
