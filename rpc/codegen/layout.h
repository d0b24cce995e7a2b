// The layout of generated code: like hand-written code with at most 100 columns.
#pragma once

#include <google/protobuf/io/printer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/codegen/model.h"

namespace corolane::rpc::codegen {

using google::protobuf::io::Printer;

inline constexpr std::size_t columns_max = 100;

// The text that `print` writes to the printer; $name$ in it is a variable.
template <typename Print>
std::string printed(const Print& print) {
  std::string text;
  google::protobuf::io::StringOutputStream stream(&text);
  Printer printer(&stream, '$');
  print(printer);
  return text;
}

std::size_t lines_in(const std::string& text);

// `type` `name`(arguments)`tail`, broken into lines when it is too long for one.
std::string signature(std::size_t indent, const std::string& type, const std::string& name,
                      std::vector<std::string> arguments, const std::string& tail);

// `begin` arguments `end`, as many per line as fit, aligned below each other where possible.
std::string packed(std::size_t indent, const std::string& begin, std::vector<std::string> arguments,
                   const std::string& end);

// The lines of a .proto comment, then, after an empty line, generated sentences, wrapped.
std::string comment_text(std::size_t indent, const CommentLines& lines,
                         const std::string& sentences);

// `text` as C++ literals, one for each of its lines, one below the other.
std::string literal(std::size_t indent, std::string_view text);

// The first lines of a file, and the namespace around the rest.
void print_opening(Printer& printer, const FileModel& file);
void print_namespace_begin(Printer& printer, const FileModel& file);
void print_namespace_end(Printer& printer, const FileModel& file);

}  // namespace corolane::rpc::codegen
