// SPDX-License-Identifier: MIT
// The plugin as the protobuf compiler sees it.
#pragma once

#include <google/protobuf/compiler/code_generator.h>

#include <cstdint>
#include <string>
#include <vector>

namespace corolane::rpc::codegen {

// Makes X.corolane.h and X.corolane.cc from each X.proto, or reports the problems of all of them.
// Takes no parameter.
class Generator : public google::protobuf::compiler::CodeGenerator {
 public:
  bool Generate(const google::protobuf::FileDescriptor* file, const std::string& parameter,
                google::protobuf::compiler::GeneratorContext* context,
                std::string* error) const override;

  bool GenerateAll(const std::vector<const google::protobuf::FileDescriptor*>& files,
                   const std::string& parameter,
                   google::protobuf::compiler::GeneratorContext* context,
                   std::string* error) const override;

  std::uint64_t GetSupportedFeatures() const override { return FEATURE_PROTO3_OPTIONAL; }
};

}  // namespace corolane::rpc::codegen
