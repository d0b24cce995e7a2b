#include "tools/cli/remote_types.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "coroutine/base/check.h"

namespace corolane::tools::cli {
namespace {

namespace pb = google::protobuf;

// Keeps the first complaint.
class FirstError : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const pb::Message*,
                ErrorLocation, const std::string& reason) override {
    if (message.empty()) message = file + ": " + element + ": " + reason;
  }

  std::string message;
};

std::string type_text(const pb::FieldDescriptor& field) {
  if (field.is_map()) {
    return "map<" + type_text(*field.message_type()->map_key()) + ", " +
           type_text(*field.message_type()->map_value()) + ">";
  }
  const std::string repeated = field.is_repeated() ? "repeated " : "";
  if (field.type() == pb::FieldDescriptor::TYPE_MESSAGE) {
    return repeated + field.message_type()->full_name();
  }
  if (field.type() != pb::FieldDescriptor::TYPE_ENUM) return repeated + field.type_name();

  std::string values;
  for (int i = 0; i < field.enum_type()->value_count(); ++i) {
    values += (i == 0 ? "" : "|") + field.enum_type()->value(i)->name();
  }
  return repeated + values;
}

// Of the values, in a map; null for what is no message.
const pb::Descriptor* message_type_of(const pb::FieldDescriptor& field) {
  return field.is_map() ? field.message_type()->map_value()->message_type() : field.message_type();
}

// The fields of a type, then those of the types of its fields. Those of protobuf itself have a JSON
// form of their own.
std::string fields_text(const pb::Descriptor& type) {
  if (type.field_count() == 0) return type.full_name() + " has no fields: write {}";
  std::vector<const pb::Descriptor*> types = {&type};
  std::string text;
  for (std::size_t next = 0; next < types.size(); ++next) {
    text += (next == 0 ? "" : "\n") + types[next]->full_name() + " has these fields:";
    for (int i = 0; i < types[next]->field_count(); ++i) {
      const pb::FieldDescriptor& field = *types[next]->field(i);
      text += "\n  " + field.name() + ": " + type_text(field);
      const pb::Descriptor* inner = message_type_of(field);
      if (inner != nullptr && inner->file()->package() != "google.protobuf" &&
          std::ranges::find(types, inner) == types.end()) {
        types.push_back(inner);
      }
    }
  }
  return text;
}

}  // namespace

Result<void> RemoteTypes::add(const rpc::DescribeReply& description) {
  for (const std::string& bytes : description.files()) {
    pb::FileDescriptorProto file;
    FirstError error;
    if (!file.ParseFromString(bytes) || pool_.BuildFileCollectingErrors(file, &error) == nullptr) {
      return Error(Code::data_loss, "the node describes " + file.name() +
                                        " in a way that makes no sense: " + error.message);
    }
  }
  return {};
}

Result<std::unique_ptr<pb::Message>> RemoteTypes::make(const std::string& type) {
  const pb::Descriptor* descriptor = pool_.FindMessageTypeByName(type);
  if (descriptor == nullptr) {
    return Error(Code::not_found, "the node does not describe the message \"" + type + "\"");
  }
  return std::unique_ptr<pb::Message>(factory_.GetPrototype(descriptor)->New());
}

Result<void> read_json(std::string_view json, pb::Message& message) {
  const auto status = pb::util::JsonStringToMessage({json.data(), json.size()}, &message);
  if (status.ok()) return {};
  return Error(Code::invalid_argument, "the request does not fit: " + status.message().ToString() +
                                           "\n" + fields_text(*message.GetDescriptor()));
}

std::string to_json(const pb::Message& message) {
  pb::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = pb::util::MessageToJsonString(message, &json, options);
  check(status.ok(), "a message that was parsed can be printed");
  return json;
}

}  // namespace corolane::tools::cli
