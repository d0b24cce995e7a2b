// What is generated from a .proto file: its services, spelled as in C++.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"

namespace google::protobuf {
class FileDescriptor;
}

namespace corolane::rpc::codegen {

struct MethodModel {
  std::string cpp_name;              // "wait_move".
  std::string full_name;             // "corolane.services.chess.Chess/WaitMove".
  std::vector<std::string> comment;  // Its lines, without slashes.
  std::string request_type;          // As named in the namespace of the service.
  std::string reply_type;
  Duration timeout{};
  std::size_t stack_size_bytes = 0;
};

struct ServiceModel {
  std::string name;       // "Chess".
  std::string full_name;  // "corolane.services.chess.Chess".
  std::vector<std::string> comment;
  std::vector<MethodModel> methods;
};

struct FileModel {
  std::string proto_path;
  std::string stem;                       // The path without ".proto".
  std::string cpp_namespace;              // Empty when the file has no package.
  std::set<std::string> message_headers;  // Of all requests and replies.
  std::vector<ServiceModel> services;
};

// `file` is one that find_problems() has nothing against.
FileModel read_model(const google::protobuf::FileDescriptor& file);

}  // namespace corolane::rpc::codegen
