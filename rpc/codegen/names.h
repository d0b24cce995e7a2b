// SPDX-License-Identifier: MIT
// How names of a .proto file are spelled in C++, and on the wire.
#pragma once

#include <string>
#include <string_view>

namespace google::protobuf {
class MethodDescriptor;
}

namespace corolane::rpc::codegen {

// "WaitMove" is "wait_move", "GetURLOf2" is "get_url_of2".
std::string snake_case(std::string_view name);

// True for every reserved word of C++23.
bool is_keyword(std::string_view word);

// "corolane.services.chess" is "corolane::services::chess".
std::string namespace_of(std::string_view package);

// "services/chess/chess.proto" is "services/chess/chess".
std::string stem_of(const std::string& proto_path);

// "package.Service/Method", the name of a method on the wire.
std::string full_name_of(const google::protobuf::MethodDescriptor& method);

}  // namespace corolane::rpc::codegen
