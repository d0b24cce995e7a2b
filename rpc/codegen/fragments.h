// SPDX-License-Identifier: MIT
// The pieces of C++ that both generated files are made of.
//
// Generated code breaks its lines at fixed places, whatever their length: parameters stand one
// below the other, and so do the sentences of a comment.
#pragma once

#include <google/protobuf/io/printer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <string>
#include <string_view>
#include <vector>

#include "rpc/codegen/model.h"

namespace corolane::rpc::codegen {

using google::protobuf::io::Printer;

// The text that `print` writes to the printer; $name$ in it is a variable.
template <typename Print>
std::string printed(const Print& print) {
  std::string text;
  google::protobuf::io::StringOutputStream stream(&text);
  Printer printer(&stream, '$');
  print(printer);
  return text;
}

// `items`, with `separator` between them.
std::string joined(const std::vector<std::string>& items, std::string_view separator);

// `type` `name`(parameters)`tail`.
std::string signature(std::size_t indent, const std::string& type, const std::string& name,
                      const std::vector<std::string>& parameters, const std::string& tail);

// The lines of a .proto comment, then, after an empty line, generated sentences.
std::string comment_text(std::size_t indent, const CommentLines& lines, const Sentences& sentences);

// `text` as C++ literals, one for each of its lines, one below the other.
std::string literal(std::size_t indent, std::string_view text);

// The first lines of a file, and the namespace around the rest.
void print_opening(Printer& printer, const FileModel& file);
void print_namespace_begin(Printer& printer, const FileModel& file);
void print_namespace_end(Printer& printer, const FileModel& file);

}  // namespace corolane::rpc::codegen
