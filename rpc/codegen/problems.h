// SPDX-License-Identifier: MIT
// Finds what is in a .proto file but cannot become C++ or be called over the wire.
#pragma once

#include <string>
#include <vector>

namespace google::protobuf {
class FileDescriptor;
}

namespace corolane::rpc::codegen {

// Lines and columns count from 1.
struct Problem {
  std::string proto_path;
  int line = 0;
  int column = 0;
  std::string message;  // The problem, and how to fix it.
};

// "file:line:column: message", as the protobuf compiler prints its own.
std::string to_string(const Problem& problem);

// All problems, not just the first, in the order of the file.
std::vector<Problem> find_problems(const google::protobuf::FileDescriptor& file);

}  // namespace corolane::rpc::codegen
