// SPDX-License-Identifier: MIT
#include "rpc/codegen/generator.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <iterator>
#include <memory>

#include "rpc/codegen/model.h"
#include "rpc/codegen/problems.h"
#include "rpc/codegen/text.h"

namespace corolane::rpc::codegen {
namespace {

namespace pb = google::protobuf;

void write(pb::compiler::GeneratorContext& context, const std::string& path,
           const std::string& text) {
  const std::unique_ptr<pb::io::ZeroCopyOutputStream> stream(context.Open(path));
  pb::io::CodedOutputStream(stream.get()).WriteString(text);
}

}  // namespace

bool Generator::Generate(const pb::FileDescriptor* file, const std::string& parameter,
                         pb::compiler::GeneratorContext* context, std::string* error) const {
  return GenerateAll({file}, parameter, context, error);
}

bool Generator::GenerateAll(const std::vector<const pb::FileDescriptor*>& files,
                            const std::string& parameter, pb::compiler::GeneratorContext* context,
                            std::string* error) const {
  if (!parameter.empty()) {
    *error = "\"" + parameter + "\": protoc-gen-corolane takes no parameter";
    return false;
  }
  for (const pb::FileDescriptor* file : files) {
    for (const Problem& problem : find_problems(*file)) *error += "\n" + to_string(problem);
  }
  if (!error->empty()) {
    // The compiler prints a prefix of its own before this.
    error->insert(0, "nothing is generated until this is fixed:");
    return false;
  }

  for (const pb::FileDescriptor* file : files) {
    const FileModel model = read_model(*file);
    write(*context, model.stem + ".corolane.h", header_text(model));
    write(*context, model.stem + ".corolane.cc", source_text(model));
  }
  return true;
}

}  // namespace corolane::rpc::codegen
