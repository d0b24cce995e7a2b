// SPDX-License-Identifier: MIT
// Decides which parts of the linked protos a peer may see.
#pragma once

#include <set>
#include <string>

#include "rpc/options.h"

namespace google::protobuf {
class Descriptor;
class EnumDescriptor;
class FileDescriptorProto;
}  // namespace google::protobuf

namespace corolane::rpc {

class Server;

namespace detail {

// Nodes see everything that is linked into the program. Clients see the methods that they may call,
// the services of those methods, and their message types, recursively.
class VisibleSymbols {
 public:
  // `server` outlives it.
  VisibleSymbols(const Server& server, Door door);

  // Whether the peer may see a service, a method, a message, an enumeration or a part of them,
  // given by its full name.
  bool contains(const std::string& symbol) const;

  // Removes the services and methods that the peer may not see.
  void prune(google::protobuf::FileDescriptorProto& file) const;

 private:
  void add(const google::protobuf::Descriptor& message);

  Door door_;
  std::set<std::string> services_;
  std::set<std::string> methods_;  // "package.Service.Method".
  std::set<const google::protobuf::Descriptor*> messages_;
  std::set<const google::protobuf::EnumDescriptor*> enums_;
};

}  // namespace detail
}  // namespace corolane::rpc
