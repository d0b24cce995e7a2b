// SPDX-License-Identifier: MIT
#include "tools/corolane/remote_types.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/util/json_util.h>

#include "coroutine/base/check.h"
#include "coroutine/base/text.h"

namespace corolane::tools::cli {
namespace {

namespace pb = google::protobuf;

// Keeps the first error.
class FirstError : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const pb::Message*,
                ErrorLocation, const std::string& reason) override {
    if (message.empty()) message = file + ": " + element + ": " + reason;
  }

  std::string message;
};

}  // namespace

Result<void> RemoteTypes::add(const rpc::DescribeReply& description) {
  for (const std::string& bytes : description.files()) {
    pb::FileDescriptorProto file;
    FirstError error;
    if (!file.ParseFromString(bytes) || pool_.BuildFileCollectingErrors(file, &error) == nullptr) {
      return Error(Code::data_loss,
                   "the node describes " + file.name() + " in an invalid way: " + error.message);
    }
  }
  for (const rpc::Comment& comment : description.comments()) {
    comments_.emplace(comment.symbol(), comment.text());
  }
  return {};
}

std::string RemoteTypes::comment(const std::string& symbol) const {
  const auto found = comments_.find(symbol);
  return found == comments_.end() ? "" : found->second;
}

Result<const pb::Descriptor*> RemoteTypes::find(const std::string& type) const {
  const pb::Descriptor* descriptor = pool_.FindMessageTypeByName(type);
  if (descriptor == nullptr) {
    return Error(Code::not_found, "the node does not describe the message " + quote(type));
  }
  return descriptor;
}

Result<std::unique_ptr<pb::Message>> RemoteTypes::make(const std::string& type) {
  const auto descriptor = find(type);
  if (!descriptor) return descriptor.error();
  return std::unique_ptr<pb::Message>(factory_.GetPrototype(*descriptor)->New());
}

Result<void> read_json(std::string_view json, pb::Message& message) {
  const auto status = pb::util::JsonStringToMessage({json.data(), json.size()}, &message);
  if (status.ok()) return {};
  return Error(Code::invalid_argument, "the request does not fit: " + status.message().ToString());
}

std::string to_json(const pb::Message& message, JsonLayout layout) {
  pb::util::JsonPrintOptions options;
  options.add_whitespace = layout == JsonLayout::indented;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = pb::util::MessageToJsonString(message, &json, options);
  check(status.ok(), "a message that was parsed can be printed");
  if (!json.ends_with('\n')) json += '\n';
  return json;
}

}  // namespace corolane::tools::cli
