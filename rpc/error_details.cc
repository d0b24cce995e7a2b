// SPDX-License-Identifier: MIT
#include "rpc/error_details.h"

#include <utility>

#include "rpc/error_details.pb.h"

namespace corolane::rpc {
namespace {

// Before the name of a type in a google.protobuf.Any.
constexpr std::string_view type_prefix = "type.googleapis.com/";

}  // namespace

Error with_message(Error error, const google::protobuf::Message& message) {
  ErrorDetails details;
  if (!details.ParseFromString(error.detail())) details.Clear();
  google::protobuf::Any& added = *details.add_details();
  if (message.GetDescriptor() == added.GetDescriptor()) {
    added.CopyFrom(message);
    return std::move(error).with_detail(details.SerializeAsString());
  }
  added.set_type_url(std::string(type_prefix).append(message.GetTypeName()));
  added.set_value(message.SerializeAsString());
  return std::move(error).with_detail(details.SerializeAsString());
}

std::vector<ErrorMessage> messages_of(const Error& error) {
  std::vector<ErrorMessage> messages;
  ErrorDetails details;
  if (error.detail().empty() || !details.ParseFromString(error.detail())) return messages;
  for (const google::protobuf::Any& detail : details.details()) {
    const std::string& url = detail.type_url();
    const std::size_t slash = url.rfind('/');
    if (slash == std::string::npos) return {};
    messages.push_back({.type = url.substr(slash + 1), .bytes = detail.value()});
  }
  return messages;
}

}  // namespace corolane::rpc
