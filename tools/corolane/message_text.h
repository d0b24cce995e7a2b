// Message types for people who are about to write one as JSON.
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <set>
#include <string>

#include "tools/corolane/remote_types.h"

namespace corolane::tools::cli {

// Writes the fields of types, each type once: with their comments above them and the fields of the
// messages that they hold below them.
//
//   // Who shall hear it.
//   listeners: repeated Listener
//     name: string
class FieldsText {
 public:
  // `types` outlives it.
  explicit FieldsText(const RemoteTypes& types) : types_(&types) {}

  // Lines that begin with two blanks.
  std::string of(const google::protobuf::Descriptor& type);

 private:
  std::string fields(const google::protobuf::Descriptor& type, std::size_t indent);
  std::string field(const google::protobuf::FieldDescriptor& field, std::size_t indent);
  std::string comment(const google::protobuf::FieldDescriptor& field, std::size_t indent) const;

  const RemoteTypes* types_;
  std::set<const google::protobuf::Descriptor*> seen_;
};

// A message of that type as indented JSON, with something in every field that can be left in: ready
// to be changed, and to be sent as it is. Of a oneof it has the first field.
std::string example_json(const google::protobuf::Descriptor& type);

}  // namespace corolane::tools::cli
