// SPDX-License-Identifier: MIT
// Message types as text, for people who write a message as JSON.
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <set>
#include <string>

#include "tools/corolane/remote_types.h"

namespace corolane::tools::cli {

// Writes the fields of types, each type once, with their comments above and the fields of nested
// messages below.
//
//   // A person who hears it.
//   listeners: repeated Listener
//     name: string
class FieldsText {
 public:
  // `types` outlives it.
  explicit FieldsText(const RemoteTypes& types) : types_(&types) {}

  // Returns lines indented by two blanks.
  std::string of(const google::protobuf::Descriptor& type);

 private:
  std::string fields(const google::protobuf::Descriptor& type, std::size_t indent);
  std::string field(const google::protobuf::FieldDescriptor& field, std::size_t indent);
  std::string comment(const google::protobuf::FieldDescriptor& field, std::size_t indent) const;

  const RemoteTypes* types_;
  std::set<const google::protobuf::Descriptor*> seen_;
};

// An example message as indented JSON, with a value for every field that can have one. It can be
// edited, or sent as it is. Only the first field of a oneof is set.
std::string example_json(const google::protobuf::Descriptor& type);

}  // namespace corolane::tools::cli
