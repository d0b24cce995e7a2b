// The layout of generated code: that of a person who keeps to 100 columns.
#pragma once

#include <google/protobuf/io/printer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstddef>
#include <string>
#include <vector>

#include "rpc/codegen/model.h"

namespace corolane::rpc::codegen {

using google::protobuf::io::Printer;

// The text that `print` gives to the printer; $name$ in it stands for a value.
template <typename Print>
std::string printed(const Print& print) {
  std::string text;
  google::protobuf::io::StringOutputStream stream(&text);
  Printer printer(&stream, '$');
  print(printer);
  return text;
}

// `type` `name`(arguments)`tail`, broken into lines where it is too long for one.
std::string signature(std::size_t indent, const std::string& type, const std::string& name,
                      std::vector<std::string> arguments, const std::string& tail);

// The first line of a file, and the namespace around the rest.
void print_opening(Printer& printer, const FileModel& file);
void print_namespace_begin(Printer& printer, const FileModel& file);
void print_namespace_end(Printer& printer, const FileModel& file);

}  // namespace corolane::rpc::codegen
