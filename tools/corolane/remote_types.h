// SPDX-License-Identifier: MIT
// Message types received as descriptors, and their messages as JSON.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "rpc/reflection/reflection.pb.h"

namespace corolane::tools::cli {

// Must outlive the messages that it makes.
class RemoteTypes {
 public:
  // Adds a server's description of its types. Fails with data_loss when it is invalid.
  Result<void> add(const rpc::DescribeReply& description);

  // The comment in the .proto on the element with that full name; empty without one.
  std::string comment(const std::string& symbol) const;

  // The type "package.Message". Fails with not_found.
  Result<const google::protobuf::Descriptor*> find(const std::string& type) const;
  // An empty message of the type "package.Message". Fails with not_found.
  Result<std::unique_ptr<google::protobuf::Message>> make(const std::string& type);

 private:
  google::protobuf::DescriptorPool pool_;
  std::map<std::string, std::string> comments_;
  google::protobuf::DynamicMessageFactory factory_{&pool_};
};

// Fills an empty message. Fails with invalid_argument when the text is not JSON or does not fit.
Result<void> read_json(std::string_view json, google::protobuf::Message& message);

enum class JsonLayout { indented, one_line };

// Uses the field names of the .proto file.
std::string to_json(const google::protobuf::Message& message, JsonLayout layout);

}  // namespace corolane::tools::cli
