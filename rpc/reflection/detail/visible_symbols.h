// Decides which parts of the linked protos a peer may see that may not call everything.
#pragma once

#include <set>
#include <string>

#include "rpc/security.h"

namespace google::protobuf {
class Descriptor;
class EnumDescriptor;
class FileDescriptorProto;
}  // namespace google::protobuf

namespace corolane::rpc {

class Server;

namespace detail {

// Nodes see everything that is linked into the program. Clients see the methods that they may call,
// the services of those, and what the messages of those are made of.
class VisibleSymbols {
 public:
  // `server` outlives it.
  VisibleSymbols(const Server& server, Door door);

  // Of a service, a method, a message, an enumeration or a part of them, by its full name.
  bool contains(const std::string& symbol) const;

  // Takes the services and methods away that are not seen.
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
