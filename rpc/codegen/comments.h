// What people wrote above and behind the parts of a .proto file.
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

// The lines of a comment as they follow two slashes: "// like this" is " like this".
using CommentLines = std::vector<std::string>;

// What stands directly above a thing, and behind it after an empty line. Not what an empty line
// separates from it: headings and code that was commented out.
CommentLines comment_of(const google::protobuf::ServiceDescriptor& service);
CommentLines comment_of(const google::protobuf::MethodDescriptor& method);
// Of a file it is what stands above its syntax.
CommentLines comment_of(const google::protobuf::FileDescriptor& file);

// The full name of a part of a file, and its comment with single newlines and no slashes.
using SymbolComment = std::pair<std::string, std::string>;

// Of all services of the file, their methods and everything that their messages are made of, where
// there is a comment. Types of protobuf itself are left out: everybody knows them.
std::vector<SymbolComment> symbol_comments(const google::protobuf::FileDescriptor& file);

}  // namespace corolane::rpc::codegen
