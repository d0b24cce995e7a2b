// SPDX-License-Identifier: MIT
// The comments above and behind the parts of a .proto file.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace google::protobuf {
class FileDescriptor;
class MethodDescriptor;
class ServiceDescriptor;
}  // namespace google::protobuf

namespace corolane::rpc::codegen {

// The lines of a comment as they follow the slashes: "// like this" is " like this".
using CommentLines = std::vector<std::string>;

// Generated sentences below them, one in each line.
using Sentences = std::vector<std::string>;

// The comment directly above an element, then, after an empty line, the one behind it. Comments
// that an empty line separates are left out: headings and commented-out code.
CommentLines comment_of(const google::protobuf::ServiceDescriptor& service);
CommentLines comment_of(const google::protobuf::MethodDescriptor& method);
// The comment above the syntax statement of the file, without lines of its licence.
CommentLines comment_of(const google::protobuf::FileDescriptor& file);

// The full name of an element of a file, and its comment with single newlines and no slashes.
using SymbolComment = std::pair<std::string, std::string>;

// The comments of all services of the file, their methods and their message types, recursively.
// Types of protobuf itself are left out: they are well known.
std::vector<SymbolComment> symbol_comments(const google::protobuf::FileDescriptor& file);

}  // namespace corolane::rpc::codegen
